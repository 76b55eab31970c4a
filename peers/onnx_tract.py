"""Runs ONNX files in tract, through peers/onnx-tract."""

import re
import subprocess
from pathlib import Path

import numpy

HERE = Path(__file__).resolve().parent


class Tract:
    def __init__(self, folder: Path, profile: str):
        """With the profile `release`, or `quick`, which is compiled in a fraction of the time and runs slowly."""
        crate = HERE / "onnx-tract"
        # A folder of its own, wherever other builds go.
        command = ["cargo", "build", "--profile", profile, "--quiet", "--locked", "--target-dir", crate / "target"]
        subprocess.run(command, cwd=crate, check=True)
        self.folder = folder
        self.version = re.search(r'name = "tract-onnx"\nversion = "(.+)"', (crate / "Cargo.lock").read_text())[1]
        binary = crate / "target" / profile / "onnx-tract"
        self.process = subprocess.Popen([binary], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def run(self, path: Path, inputs, seconds: float = 0.0, wall: bool = True):
        """The fewest seconds of a run, by the clock or of processor time, and the outputs."""
        fields = [str(path), str(self.folder / "tract.out"), str(seconds), "wall" if wall else "cpu"]
        for at, array in enumerate(inputs):
            file = self.folder / f"tract.in.{at}"
            array = numpy.ascontiguousarray(array)
            array.tofile(file)
            kind = "f32" if array.dtype == numpy.float32 else "i64"
            fields.append(f"{kind}:{'x'.join(map(str, array.shape))}:{file}")
        print("\t".join(fields), file=self.process.stdin, flush=True)
        state, *rest = self.process.stdout.readline().split(" ")
        if state != "ok":
            raise RuntimeError(f"tract: {' '.join(rest).strip()[:600]}")
        outputs = []
        for at, output in enumerate(rest[1:]):
            kind, sides = output.strip().split(":")
            values = numpy.fromfile(f"{fields[1]}.{at}", dtype="float32" if kind == "f32" else "int64")
            outputs.append(values.reshape([int(side) for side in sides.split("x")]))
        return int(rest[0]) / 1e9, outputs
