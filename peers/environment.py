"""What the scripts here need: a Python with PyTorch, and release binaries of matnet."""

import importlib.util
import json
import os
import platform
import re
import subprocess
import sys
import time
import venv
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent

# Where torch.compile and XLA keep what they have compiled, for the processes after them.
COMPILED = {
    "TORCHINDUCTOR_CACHE_DIR": str(HERE / ".compiled" / "torch"),
    "JAX_COMPILATION_CACHE_DIR": str(HERE / ".compiled" / "jax"),
}


def interpreter(given: str | None = None) -> str:
    """A Python that has what the other side needs."""
    if given:
        return given
    folder = HERE / ".venv"
    python = folder / "bin" / "python"
    done = folder / "ready"
    if not done.exists():
        print("making a virtual environment with PyTorch; this takes a while", flush=True)
        venv.create(folder, with_pip=True, clear=True)
        pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        packages = ["torch", "numpy", "safetensors", "torch_geometric", "jax", "onnx", "onnxscript", "onnxruntime"]
        subprocess.run(pip + packages, check=True)
        done.touch()
    return str(python)


def need_torch() -> None:
    """Goes on in peers/.venv if this Python has no PyTorch."""
    try:
        import numpy, safetensors, torch  # noqa: F401
    except ImportError:
        python = interpreter()
        if Path(sys.executable).absolute() == Path(python):
            raise
        os.execv(python, [python, *sys.argv])


def need_packages(folder: str, packages: dict[str, str]) -> None:
    """Goes on in a virtual environment of peers/ if this Python lacks one of the modules; `packages` are the names on PyPI, by module."""
    missing = [module for module in packages if importlib.util.find_spec(module) is None]
    if not missing:
        return
    folder = HERE / folder
    python, done = folder / "bin" / "python", folder / "ready"
    if not done.exists():
        print(f"making a virtual environment with {', '.join(packages.values())}", flush=True)
        venv.create(folder, with_pip=True, clear=True)
        pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run(pip + list(packages.values()), check=True)
        done.touch()
    if Path(sys.executable).absolute() == python:
        sys.exit(f"{folder} lacks {', '.join(missing)}; remove the folder to make it anew")
    os.execv(python, [str(python), *sys.argv])


def need_onnx() -> None:
    """Goes on in peers/.venv-onnx if this Python has no ONNX Runtime."""
    need_packages(".venv-onnx", {"numpy": "numpy", "onnx": "onnx", "onnxruntime": "onnxruntime"})


def cpu_model() -> str:
    """The processor that numbers are measured on. A virtual machine may call all of a vendor's by one name, and hide a part of what one can
    do: AMD's has its generation, and says if AVX-512 is hidden."""
    try:
        info = Path("/proc/cpuinfo").read_text()
        name, family, model = (
            re.search(rf"^{key}\s*:\s*(.+)", info, re.MULTILINE)[1] for key in ("model name", "cpu family", "model")
        )
    except (OSError, TypeError):
        return platform.processor() or platform.machine()
    generation = {"23": "Zen to Zen 2", "25": "Zen 3", "26": "Zen 5"}.get(family) if "AMD" in name else None
    # Models of family 25 from 16 to 31 and from 96 on.
    if generation == "Zen 3" and (16 <= int(model) < 32 or int(model) >= 96):
        generation = "Zen 4"
    if generation in ("Zen 4", "Zen 5") and "avx512f" not in info:
        generation += ", AVX2 only"
    return f"{name} ({generation})" if generation else name


def cpu_folder() -> str:
    """Its name as a folder has it."""
    plain = re.sub(r"\((r|tm)\)|@.*", "", cpu_model().lower())
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")


def measured(command: list[str], cwd: Path, **variables: str) -> dict:
    """Runs a command; CPU time, time and the largest resident set, as the system counts them."""
    start = time.monotonic()
    process = subprocess.Popen(command, cwd=cwd, env=os.environ | variables)
    _, status, used = os.wait4(process.pid, 0)
    if status:
        sys.exit(f"{' '.join(command)}: status {os.waitstatus_to_exitcode(status)}")
    cpu = used.ru_utime + used.ru_stime
    return {"cpu_seconds": round(cpu, 1), "seconds": round(time.monotonic() - start, 1), "mib": used.ru_maxrss // 1024}


def build(binary: str = "matnet") -> Path:
    """A release binary; built without --package, so that Burn is not built again with other features."""
    command = ["cargo", "build", "--release", "--bin", binary, "--message-format", "json"]
    built = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
    messages = map(json.loads, built.stdout.splitlines())
    return next(Path(m["executable"]) for m in messages if m.get("executable"))


def example(name: str) -> Path:
    """A release build of an example."""
    subprocess.run(["cargo", "build", "--release", "--example", name], cwd=ROOT, check=True)
    return Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release" / "examples" / name


def library() -> Path:
    """The shared library of the C interface; built with the whole workspace, so that Burn is not built again."""
    # matnet-mpi needs MPI.
    subprocess.run(["cargo", "build", "--release", "--workspace", "--exclude", "matnet-mpi"], cwd=ROOT, check=True)
    release = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release"
    return next(path for end in ["so", "dylib"] if (path := release / f"libmatnet_c.{end}").exists())
