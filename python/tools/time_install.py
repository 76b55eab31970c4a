"""Time ``pip install ./python`` as on a fresh machine: ``python tools/time_install.py [TARGET]``.

A new virtual environment, and a new target folder, so that everything is compiled; or the target folder TARGET of an earlier build. Prints
elapsed time, processor time and what the package takes on disk, and fails unless package and command work.
"""

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent.parent


def main() -> None:
    """Install, time, check."""
    with tempfile.TemporaryDirectory(prefix="matnet-install-") as folder:
        venv = Path(folder) / "venv"
        subprocess.run([sys.executable, "-m", "venv", venv], check=True)
        target = Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else Path(folder) / "target"
        environment = {**os.environ, "CARGO_TARGET_DIR": str(target)}
        before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        subprocess.run([venv / "bin" / "pip", "install", "--quiet", PACKAGE], check=True, env=environment, cwd=folder)
        after, elapsed = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter() - start
        processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        version = subprocess.run(
            [venv / "bin" / "matnet", "--version"], check=True, capture_output=True, text=True, cwd=folder
        )
        works = "import matnet; matnet.MatrixClassifier(epochs=1).fit([[0.0], [1.0]], [0, 1]).predict([[0.0]])"
        subprocess.run([venv / "bin" / "python", "-c", works], check=True, cwd=folder)
        installed = sum(path.stat().st_size for path in (venv / "lib").rglob("matnet/**/*") if path.is_file())
    print(
        f"{version.stdout.strip()}: {elapsed:.0f} s elapsed, {processor:.0f} s of processor time, {installed / 1e6:.1f} MB installed"
    )


if __name__ == "__main__":
    main()
