"""Threads, signals, memory, import and the command."""

import os
import subprocess
import sys
import threading
import time
import tracemalloc
import zlib

import numpy as np
import pytest
from conftest import REPOSITORY

import matnet

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 4, 5)).astype("float32")
Y = (X[:, 0, 0] > 0).astype(int)


def run(code, **given):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, **given)


def test_other_threads_run_while_a_net_is_trained():
    counted, stop = [0], threading.Event()

    def count():
        while not stop.is_set():
            counted[0] += 1
            time.sleep(0)

    thread = threading.Thread(target=count)
    thread.start()
    before = counted[0]
    # Events are quiet here, so nothing but a released lock lets the other thread run.
    matnet.MatrixClassifier(hidden=(30, 30), epochs=200, random_state=0).fit(X, Y)
    during = counted[0] - before
    stop.set()
    thread.join()
    assert during > 10


def test_several_threads_train_and_predict_at_once():
    alone = matnet.MatrixClassifier(epochs=5, random_state=0).fit(X, Y).predict_proba(X)
    given = {}

    def work(name):
        net = matnet.MatrixClassifier(epochs=5, random_state=0).fit(X, Y)
        given[name] = net.predict_proba(X)

    threads = [threading.Thread(target=work, args=(name,)) for name in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(given) == 4 and all(np.array_equal(alone, one) for one in given.values())


FIT = """
import os, signal, sys, warnings
import numpy as np
import matnet
X = np.random.default_rng(0).normal(size=(200, 6, 6))
def interrupt(epoch, logs):
    if epoch == 3:
        os.kill(os.getpid(), signal.SIGINT)
"""


@pytest.mark.skipif(os.name != "posix", reason="signals are sent as POSIX has them")
def test_ctrl_c_keeps_what_was_learnt(tmp_path):
    done = run(
        FIT
        + """
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    net = matnet.MatrixClassifier(epochs=10**6, random_state=0, callbacks=[interrupt]).fit(X, X[:, 0, 0] > 0)
print(net.n_iter_ >= 3, len(net.predict(X)), any("interrupted" in str(one.message) for one in said))
"""
    )
    assert done.stdout.split() == ["True", "200", "True"], done.stderr
    done = run(
        FIT
        + f"""
config = {{"model": {{"kind": "feedforward", "hidden": [4, 4]}}, "train": {{"epochs": 8}}}}
data = {{"x": X, "y": X[:, 0, 0] > 0}}
try:
    matnet.train(config, data=data, out={str(tmp_path / "run")!r}, callbacks=[interrupt], report=False)
except KeyboardInterrupt:
    print("stopped")
whole = matnet.train(config, data=data, report=False)
resumed = matnet.train(config, data=data, out={str(tmp_path / "run")!r}, report=False)
print((whole.folder / "best.safetensors").read_bytes() == (resumed.folder / "best.safetensors").read_bytes())
"""
    )
    assert done.stdout.split() == ["stopped", "True"], done.stderr


def test_a_run_that_resumes_with_another_instruction_set_warns(tmp_path):
    train = f"""
import numpy as np, matnet
X = np.random.default_rng(0).normal(size=(60, 4, 4))
config = {{"model": {{"kind": "feedforward", "hidden": [4, 4]}}, "train": {{"epochs": 3}}}}
def train(**options):
    return matnet.train(config, {{"x": X, "y": X[:, 0, 0] > 0}}, out={str(tmp_path / "run")!r}, report=False, **options)
"""
    stop = """
def stop(epoch, logs):
    raise ArithmeticError
try:
    train(callbacks=[stop])
except ArithmeticError:
    print("stopped")
"""
    done = run(train + stop, env={**os.environ, "MATNET_SIMD": "portable"})
    assert done.stdout.split() == ["stopped"], done.stderr
    done = run(train + "train()")
    assert done.returncode == 0, done.stderr
    devices = subprocess.run([sys.executable, "-m", "matnet", "devices"], capture_output=True, text=True).stdout
    warning = "UserWarning: the run was on flex (portable) and resumes on flex ("
    # Unless the CPU has nothing better.
    assert (warning in done.stderr) != ("SIMD portable" in devices), done.stderr


@pytest.mark.skipif(os.name != "posix", reason="signals are sent as POSIX has them")
def test_ctrl_c_twice_ends_a_search():
    done = run(
        FIT
        + """
from sklearn.model_selection import GridSearchCV
warnings.simplefilter("ignore")
ended = []
class Interrupt(matnet.Callback):
    def on_epoch_end(self, epoch, logs):
        os.kill(os.getpid(), signal.SIGINT)
    def on_train_end(self, logs):
        ended.append(logs)
net = matnet.MatrixClassifier(epochs=10**6, random_state=0, callbacks=[Interrupt()])
try:
    GridSearchCV(net, {"depth": [1, 2, 3]}, cv=2).fit(X, X[:, 0, 0] > 0)
except KeyboardInterrupt:
    print("stopped", len(ended))
"""
    )
    assert done.stdout.split() == ["stopped", "2"], done.stderr


def test_threads_are_those_of_the_worker(monkeypatch):
    from matnet._run import n_threads

    monkeypatch.delenv("RAYON_NUM_THREADS", raising=False)
    for told, threads in [("1", 1), ("3", 3), ("0", None), ("-2", None), ("many", None), ("", None), ("99999", 1024)]:
        monkeypatch.setenv("OMP_NUM_THREADS", told)
        assert n_threads(None) == threads and n_threads(2) == 2
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    monkeypatch.setenv("RAYON_NUM_THREADS", "2")
    assert n_threads(None) is None
    assert n_threads(-1) >= 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_forked_process_has_threads_of_its_own():
    net = matnet.MatrixClassifier(epochs=2, random_state=0).fit(X, Y)
    child = os.fork()
    if child == 0:
        again = matnet.MatrixClassifier(epochs=2, random_state=0).fit(X, Y)
        os._exit(0 if np.array_equal(net.predict_proba(X), again.predict_proba(X)) else 1)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0


def test_importing_is_light():
    done = run("import sys, matnet; matnet.train; print(any(name.startswith('sklearn') for name in sys.modules))")
    assert done.stdout.strip() == "False", done.stderr


def test_the_wheel_is_small():
    from matnet import _native

    with open(_native.__file__, "rb") as file:
        # As a wheel holds it; everything else in it is text.
        assert len(zlib.compress(file.read(), 6)) < 24e6


def test_predict_copies_the_input_once():
    net = matnet.MatrixClassifier(hidden=(2, 2), epochs=1, random_state=0).fit(X, Y)
    many = np.zeros((10_000, 4, 5), dtype=np.float32)
    tracemalloc.start()
    run_of_it = net._x(many, reset=False)["x"]
    # Python's part copies nothing: the extension takes the very same memory, and copies it batch by batch.
    assert np.shares_memory(run_of_it, many)
    net.predict(many)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < many.nbytes + 4 * 10_000 * 2 * 8


@pytest.mark.skipif(not os.path.exists("/proc/self/clear_refs"), reason="peaks of memory are read as Linux has them")
def test_predict_takes_less_memory_than_its_input(monkeypatch):
    # Every thread has buffers of its own.
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    sys.path.insert(0, str(REPOSITORY / "python" / "tools"))
    import timing

    more, size = timing.memory()
    # Batches are copied one after another, so that no second copy of the input is ever there as a whole.
    assert more < size / 2, f"{more} bytes beside {size}"


def test_the_allocator_is_set_as_in_the_command():
    from matnet import _native

    assert _native.memory_kept_for() == int(os.environ.get("MIMALLOC_PURGE_DELAY", "10000"))


def test_quiet_in_pipelines(capfd):
    matnet.MatrixClassifier(epochs=2, random_state=0).fit(X, Y)
    shown = capfd.readouterr()
    assert shown.out == "" and shown.err == ""


def test_the_command(tmp_path):
    def command(*arguments):
        return subprocess.run([sys.executable, "-m", "matnet", *arguments], capture_output=True, text=True)

    assert command("--version").stdout.startswith("matnet ")
    assert "feedforward" in command("new", "feedforward").stdout
    assert command("train", str(tmp_path / "none.toml")).returncode == 2
    assert command("nonsense").returncode == 2
    assert command("--help").returncode == 0
