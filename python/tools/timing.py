"""Time the package beside the command: ``python tools/timing.py BINARY [WHEEL]``.

Command and package do the same work in turns, so that other work on the machine disturbs both alike. Processor time is that of all
threads, user and system; the table has the median of the rounds, and the median of the ratios within a round. ``ROUNDS=9`` sets their
number.
"""

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

ROUNDS = int(os.environ.get("ROUNDS", "7"))
PYTHON = [sys.executable, "-c"]
#: Long enough that starting the command and reading its file count little.
EPOCHS = 100

Times = tuple[float, float]


def of_children(command: list[str]) -> Times:
    """Processor time and elapsed time of a command, in seconds."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after, elapsed = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter() - start
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, elapsed


def of_call(work) -> Times:
    """Processor time and elapsed time of a call, in seconds."""
    before, start = time.process_time(), time.perf_counter()
    work()
    return time.process_time() - before, time.perf_counter() - start


def in_turns(works: dict) -> dict[str, list[Times]]:
    """Several works in turns, each as often; a first round is not counted."""
    times: dict[str, list[Times]] = {name: [] for name in works}
    for round_ in range(ROUNDS + 1):
        for name, work in works.items():
            spent = work()
            if round_:
                times[name].append(spent)
    return times


def median(times: list[Times]) -> Times:
    """The medians of processor time and elapsed time."""
    processor, elapsed = zip(*times, strict=True)
    return statistics.median(processor), statistics.median(elapsed)


def ratio(times: list[Times], reference: list[Times]) -> str:
    """By how much processor time lies above that of the reference, the median over the rounds."""
    ratios = [mine[0] / theirs[0] for mine, theirs in zip(times, reference, strict=True)]
    return f"{statistics.median(ratios) - 1:+.1%}"


MEMORY = """
import json, sys
import numpy as np
import matnet
def field(name):
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith(name))
many = np.random.default_rng(0).normal(size=(40_000, 28, 28)).astype("float32")
net = matnet.MatrixClassifier(hidden=(20, 20), epochs=1, random_state=1).fit(many[:500], np.arange(500) % 10)
net.predict(many[:500])
open("/proc/self/clear_refs", "w").write("5")
before = field("VmRSS")
net.predict(many)
print(json.dumps([field("VmHWM") - before, many.nbytes]))
"""


def memory() -> tuple[int, int]:
    """The memory that `predict` takes at its peak, and that of its input, in bytes; needs Linux."""
    done = subprocess.run([*PYTHON, MEMORY], check=True, capture_output=True, text=True)
    more, size = json.loads(done.stdout)
    return more, size


def main() -> None:
    """Print the table."""
    binary = sys.argv[1]
    import matnet

    rng = np.random.default_rng(0)
    x = rng.normal(size=(5000, 28, 28)).astype("float32")
    y = rng.integers(0, 10, size=5000)
    many = rng.normal(size=(10_000, 28, 28)).astype("float32")
    config = {
        "data": {"split": {"valid": 0, "test": 0}},
        "model": {"kind": "feedforward", "hidden": [20, 20], "depth": 3},
        "train": {"epochs": EPOCHS, "learning_rate": 0.001, "seed": 1},
    }
    net = matnet.MatrixClassifier(hidden=(20, 20), depth=3, epochs=EPOCHS, learning_rate=0.001, random_state=1)
    small = matnet.MatrixClassifier(hidden=(8, 8), epochs=10, random_state=1)
    with tempfile.TemporaryDirectory() as folder:
        np.savez(f"{folder}/data.npz", x=x, y=y)
        with open(f"{folder}/config.toml", "w", encoding="utf-8") as file:
            file.write(
                f'[data]\nsource = "{folder}/data.npz"\nsplit = {{ valid = 0, test = 0 }}\n'
                '[model]\nkind = "feedforward"\nhidden = [20, 20]\ndepth = 3\n'
                f"[train]\nepochs = {EPOCHS}\nlearning_rate = 0.001\nseed = 1\n"
            )
        command = [binary, "train", f"{folder}/config.toml", "--out", f"{folder}/run", "--fresh", "--quiet"]
        times = in_turns(
            {
                "command": lambda: of_children(command),
                "train": lambda: of_call(lambda: matnet.train(config, data={"x": x, "y": y}, progress=False)),
                "fit": lambda: of_call(lambda: net.fit(x, y)),
                "small": lambda: of_call(lambda: small.fit(x[:60, :4, :5], y[:60])),
                "predict": lambda: of_call(lambda: net.predict(many)),
                "nothing": lambda: of_children([*PYTHON, "pass"]),
                "import": lambda: of_children([*PYTHON, "import matnet; matnet.train"]),
                "sklearn": lambda: of_children([*PYTHON, "import sklearn.base, sklearn.utils.validation"]),
                "estimators": lambda: of_children([*PYTHON, "import matnet; matnet.MatrixClassifier"]),
            }
        )
    rows = [
        (f"`matnet train`, 5,000 matrices 28×28, {EPOCHS} epochs, with a report", "command", ""),
        ("`matnet.train`, the same work", "train", ratio(times["train"], times["command"])),
        ("`MatrixClassifier.fit`, the same net, no report", "fit", ratio(times["fit"], times["command"])),
        ("`MatrixClassifier.fit`, 60 matrices 4×5, 10 epochs", "small", ""),
        ("`predict` of 10,000 matrices 28×28", "predict", ""),
    ]
    print(
        f"Medians of {ROUNDS} rounds.\n\n| what | processor time | elapsed | beside the command |\n|---|---:|---:|---:|"
    )
    for text, name, beside in rows:
        processor, elapsed = median(times[name])
        print(f"| {text} | {processor:.3f} s | {elapsed:.3f} s | {beside} |")
    nothing = median(times["nothing"])
    for text, name in [
        ("`import matnet`, NumPy included", "import"),
        ("`from matnet import MatrixClassifier`, scikit-learn included", "estimators"),
        ("scikit-learn alone", "sklearn"),
    ]:
        processor, elapsed = (one - bare for one, bare in zip(median(times[name]), nothing, strict=True))
        print(f"| {text} | {processor:.3f} s | {elapsed:.3f} s | |")
    if os.path.exists("/proc/self/clear_refs"):
        more, size = memory()
        print(
            f"\nPeak memory of `predict` of 40,000 matrices: {more / 1e6:.1f} MB beside {size / 1e6:.1f} MB, its input."
        )
    if len(sys.argv) > 2:
        print(f"Wheel: {os.path.getsize(sys.argv[2]) / 1e6:.1f} MB.")


if __name__ == "__main__":
    main()
