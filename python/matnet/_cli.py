"""The console script ``matnet``: the command itself, inside this process."""

from __future__ import annotations

import signal
import sys

from matnet import _native


def main() -> int:
    """Run the command with the arguments of the process.

    Returns
    -------
    int
        The exit code: 0 done, 1 failed, 2 wrong usage or config, 130 interrupted.
    """
    # The command has its own ways with both; Python's would turn them into exceptions that nobody waits for.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    if hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    return _native.main(["matnet", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
