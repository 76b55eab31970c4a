"""Docstrings, stubs and notebooks."""

import doctest
import importlib
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import needs

HERE = Path(__file__).parent.parent
MODULES = [
    "matnet",
    "matnet._run",
    "matnet.callbacks",
    "matnet.estimators",
    "matnet._graph",
    "matnet._series",
    "matnet._stories",
    "matnet.torch",
]


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings_run(name):
    if name == "matnet.torch":
        needs("torch")
        needs("safetensors")
    done = doctest.testmod(importlib.import_module(name))
    assert done.failed == 0 and done.attempted > 0


def test_public_names_have_docstrings():
    import matnet

    for name in matnet.__all__:
        if name != "__version__":
            thing = getattr(matnet, name)
            assert thing.__doc__ and "Examples\n" in thing.__doc__


def test_stubs_are_those_of_the_keys():
    sys.path.insert(0, str(HERE / "tools"))
    import make_stubs

    written = (HERE / "matnet" / "_parameters.pyi").read_text(encoding="utf-8")
    assert written == make_stubs.stub(), "run tools/make_stubs.py"


def test_types():
    needs("mypy")
    done = subprocess.run([sys.executable, "-m", "mypy", "--strict", "-p", "matnet"], cwd=HERE, capture_output=True)
    assert done.returncode == 0, done.stdout.decode()
    user = (
        "import matnet\nnet = matnet.MatrixClassifier(hidden=(3, 3), epochs=2)\n"
        "run: matnet.Run = matnet.train({}, data=None)\nfolder = run.folder.name.upper()\n"
    )
    done = subprocess.run([sys.executable, "-m", "mypy", "--strict", "-c", user], cwd=HERE, capture_output=True)
    assert done.returncode == 0, done.stdout.decode()
    wrong = "import matnet\nmatnet.MatrixClassifier(hiden=3)\n"
    done = subprocess.run([sys.executable, "-m", "mypy", "--strict", "-c", wrong], cwd=HERE, capture_output=True)
    assert done.returncode == 1 and b"hiden" in done.stdout


@pytest.mark.parametrize("notebook", sorted((HERE / "notebooks").glob("*.ipynb")), ids=lambda path: path.stem)
def test_notebooks_run(notebook, tmp_path):
    needs("nbclient")
    needs("ipykernel")
    import nbclient
    import nbformat

    book = nbformat.read(notebook, as_version=4)
    client = nbclient.NotebookClient(book, timeout=600, resources={"metadata": {"path": str(notebook.parent)}})
    client.execute()
    assert all(not cell.get("outputs") for cell in nbformat.read(notebook, as_version=4).cells), "strip the outputs"
