"""Time the package beside the command: ``python tools/timing.py BINARY [WHEEL]``.

Processor time of all threads, the least of several repeats, so that other work on the machine counts little.
"""

import os
import resource
import subprocess
import sys
import tempfile
import time

import numpy as np

REPEATS = int(os.environ.get("REPEATS", "5"))


def of_children(command: list[str]) -> float:
    """Processor time of a command, in seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def of_call(work) -> float:
    """Processor time of a call, in seconds."""
    before = time.process_time()
    work()
    return time.process_time() - before


def least(work) -> float:
    """The least of several repeats."""
    return min(work() for _ in range(REPEATS))


def main() -> None:
    """Print the table."""
    binary = sys.argv[1]
    rows = []
    python = [sys.executable, "-c"]
    bare, package = (
        least(lambda code=code: of_children([*python, code])) for code in ("pass", "import matnet; matnet.train")
    )
    rows.append(("`import matnet`, NumPy included", f"{package - bare:.2f} s"))

    import matnet

    rng = np.random.default_rng(0)
    x = rng.normal(size=(5000, 28, 28)).astype("float32")
    y = rng.integers(0, 10, size=5000)
    config = {
        "data": {"split": {"valid": 0, "test": 0}},
        "model": {"kind": "feedforward", "hidden": [20, 20], "depth": 3},
        "train": {"epochs": 10, "learning_rate": 0.001, "seed": 1},
    }
    with tempfile.TemporaryDirectory() as folder:
        np.savez(f"{folder}/data.npz", x=x, y=y)
        with open(f"{folder}/config.toml", "w", encoding="utf-8") as file:
            file.write(
                f'[data]\nsource = "{folder}/data.npz"\nsplit = {{ valid = 0, test = 0 }}\n'
                '[model]\nkind = "feedforward"\nhidden = [20, 20]\ndepth = 3\n'
                "[train]\nepochs = 10\nlearning_rate = 0.001\nseed = 1\n"
            )
        command = [binary, "train", f"{folder}/config.toml", "--out", f"{folder}/run", "--fresh", "--quiet"]
        by_command = least(lambda: of_children(command))
        by_run = least(lambda: of_call(lambda: matnet.train(config, data={"x": x, "y": y}, progress=False)))
        net = matnet.MatrixClassifier(hidden=(20, 20), depth=3, epochs=10, learning_rate=0.001, random_state=1)
        by_fit = least(lambda: of_call(lambda: net.fit(x, y)))
        many = rng.normal(size=(10_000, 28, 28)).astype("float32")
        predict = least(lambda: of_call(lambda: net.predict(many)))
    rows.append(("`matnet train`, 5,000 matrices 28×28, 10 epochs", f"{by_command:.2f} s"))
    rows.append(("`matnet.train`, the same work and report", f"{by_run:.2f} s ({by_run / by_command - 1:+.1%})"))
    rows.append(("`MatrixClassifier.fit`, the same net, no report", f"{by_fit:.2f} s ({by_fit / by_command - 1:+.1%})"))
    rows.append(("`predict` of 10,000 matrices 28×28", f"{predict:.2f} s"))
    if len(sys.argv) > 2:
        rows.append(("wheel", f"{os.path.getsize(sys.argv[2]) / 1e6:.1f} MB"))
    print("| what | processor time |\n|---|---:|")
    print("\n".join(f"| {name} | {value} |" for name, value in rows))


if __name__ == "__main__":
    main()
