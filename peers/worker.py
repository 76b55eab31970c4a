"""What the workers of `peers/bench` share: requests and responses, one JSON object per line, clocks and memory."""

import json
import os
import resource
import sys
import time
from collections.abc import Callable


def serve(requests: dict[str, Callable[[dict], dict]]) -> None:
    """Responds to each line of the input until it ends."""
    # Other output must not mix with the responses.
    answers, sys.stdout = sys.stdout, sys.stderr
    for line in sys.stdin:
        request = json.loads(line)
        try:
            if request["do"] in requests:
                answer = requests[request["do"]](request)
            else:
                answer = {"error": f"no such request: {request['do']}"}
        except Exception as error:
            # The lines after the first are a traceback with paths of this machine.
            answer = {"error": f"{type(error).__name__}: {error}".splitlines()[0]}
        print(json.dumps(answer), file=answers, flush=True)


def timed(function: Callable) -> float:
    """Milliseconds."""
    start = time.perf_counter()
    function()
    return (time.perf_counter() - start) * 1e3


def held(field: str) -> float:
    """What a field of /proc/self/status says, without the pages of files, such as those of libraries; in MiB."""
    return status(field) - status("RssFile:")


def status(field: str) -> float:
    """A field of /proc/self/status in MiB; 0 where there is none."""
    try:
        with open("/proc/self/status") as lines:
            return next(int(line.split()[1]) / 1024 for line in lines if line.startswith(field))
    except (OSError, StopIteration):
        return 0.0


def forget_peak() -> None:
    try:
        with open("/proc/self/clear_refs", "w") as file:
            file.write("5")
    except OSError:
        pass


def limit_memory() -> None:
    """A row that takes too much memory fails by itself, instead of the machine."""
    most = int(0.6 * os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    resource.setrlimit(resource.RLIMIT_DATA, (most, most))
