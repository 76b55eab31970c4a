"""The work of check-onnx."""

import subprocess
from pathlib import Path

import numpy
import onnx
import onnxruntime

import onnx_cases
from onnx_tract import Tract


class Checker:
    def __init__(self, matnet: Path, folder: Path, tract: bool, most: float):
        self.matnet, self.folder, self.most = matnet, folder, most
        self.tract = Tract(folder) if tract else None

    def run(self, names, refused) -> int:
        write_table = lambda table: numpy.savetxt(self.folder / "table.csv", table, delimiter=",", header="a,b,c", comments="")
        failed, count = [], 0
        for case in onnx_cases.every(write_table):
            if names and not any(name in case.name for name in names):
                continue
            count += 1
            try:
                apart = self.check(case)
                print(f"{case.name}: {apart}", flush=True)
            except Exception as error:  # One case must not hide the others.
                failed.append(case.name)
                print(f"{case.name}: FAILED: {type(error).__name__}: {error}", flush=True)
        for name, check in [("gcn", self.check_gcn), ("refusals", self.check_refusals)]:
            if not names or any(wanted in name for wanted in names):
                count += 1
                try:
                    print(f"{name}: {check(refused)}", flush=True)
                except Exception as error:
                    failed.append(name)
                    print(f"{name}: FAILED: {type(error).__name__}: {error}", flush=True)
        print(f"{count} cases, {len(failed)} failed{': ' if failed else ''}{', '.join(failed)}")
        return int(bool(failed) or count == 0)

    def command(self, *arguments) -> str:
        done = subprocess.run([self.matnet, *map(str, arguments)], cwd=self.folder, capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"matnet {arguments[0]}: {done.stderr.strip()}")
        return done.stdout

    def check(self, case) -> str:
        """Trains, exports, predicts on all sides; the largest difference, in words."""
        self.export(case)
        inputs = case.inputs if case.inputs is not None else case.arrays["x"][:7]
        lengths = case.lengths
        if lengths is None and "length" in case.arrays:
            lengths = case.arrays["length"][:7]
        expected = self.predict(case, inputs, lengths)
        path = self.folder / f"{case.name}.onnx"
        model = onnx.load(path)
        onnx.checker.check_model(model, full_check=True)
        runtime = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
        found = [f"{self.compare(self.in_runtime(runtime), inputs, lengths, expected):.1e} ONNX Runtime"]
        if self.tract:
            found.append(f"{self.compare(self.in_tract(path, runtime), inputs, lengths, expected):.1e} tract")
        return ", ".join(found)

    def check_gcn(self, _) -> str:
        """A small undirected graph; features are divided by their sums."""
        random = numpy.random.default_rng(1)
        nodes, features = 30, abs(random.standard_normal((30, 6))).astype("float32")
        pairs = {tuple(sorted(pair)) for pair in random.integers(0, nodes, (60, 2)).tolist() if pair[0] != pair[1]}
        arrays = {"features": features, "edges": numpy.array(sorted(pairs)), "labels": numpy.arange(nodes) % 3}
        numpy.savez(self.folder / "graph.npz", **arrays)
        config = "[data]\nsource = 'graph.npz'\nnormalize = 'rows'\n[model]\nkind = 'gcn'\nhidden = [9, 4]\n[train]\nepochs = 2"
        (self.folder / "gcn.toml").write_text(config)
        self.command("train", "gcn.toml", "--quiet", "--fresh", "--out", "gcn")
        self.command("predict", "gcn", "--input", "graph.npz", "--output", "gcn-y.npy", "--quiet")
        self.command("export", "gcn", "--onnx", "gcn.onnx", "--quiet")
        path = self.folder / "gcn.onnx"
        onnx.checker.check_model(onnx.load(path), full_check=True)
        both = [pair for a, b in sorted(pairs) for pair in ((a, b), (b, a))]
        given = {"features": features, "edges": numpy.array(both, dtype="int64").T.copy()}
        runtime = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
        runs = {"ONNX Runtime": self.in_runtime(runtime)} | ({"tract": self.in_tract(path, runtime)} if self.tract else {})
        found = []
        for name, run in runs.items():
            apart = float(abs(run(given)["probabilities"] - numpy.load(self.folder / "gcn-y.npy")).max())
            if not apart <= self.most:
                raise AssertionError(f"{name}: {apart:.2g} apart; {self.most} allowed")
            found.append(f"{apart:.1e} {name}")
        return ", ".join(found)

    def check_refusals(self, refused) -> str:
        """What cannot be exported is refused with exit code 2, and an existing file stays as it is."""
        kept = self.folder / "kept.onnx"
        kept.write_text("mine")
        for kind, why in refused.items():
            config = self.folder / f"refused-{kind}.toml"
            config.write_text(self.command("new", kind))
            self.command("train", config.name, "--quiet", "--fresh", "--out", f"refused-{kind}", "--set", "train.epochs=1")
            arguments = [self.matnet, "export", f"refused-{kind}", "--onnx", kept.name]
            done = subprocess.run(arguments, cwd=self.folder, capture_output=True, text=True)
            if done.returncode != 2 or why not in done.stderr or kept.read_text() != "mine":
                raise AssertionError(f"{kind}: exit code {done.returncode}: {done.stderr.strip()}")
        return "clear"

    def export(self, case) -> None:
        config, run = self.folder / f"{case.name}.toml", self.folder / case.name
        if case.arrays:
            numpy.savez(self.folder / f"{case.name}.npz", **case.arrays)
        if not run.exists():
            settings = ["train.epochs=1"]
            if case.template:
                config.write_text(self.command("new", case.template))
                settings += [f"data.source={case.name}.npz"] if case.arrays else ["data.limit=80"]
            else:
                text = case.config
                if "source" not in text:
                    source = f"[data]\nsource = '{case.name}.npz'\n"
                    text = text.replace("[data]\n", source) if "[data]" in text else source + text
                config.write_text(text)
            settings = [part for setting in settings for part in ("--set", setting)]
            self.command("train", config.name, "--quiet", "--out", case.name, *settings)
        self.command("export", case.name, "--onnx", f"{case.name}.onnx", "--quiet")

    def predict(self, case, inputs, lengths):
        arrays = {"x": inputs} | ({"length": lengths} if lengths is not None else {})
        numpy.savez(self.folder / f"{case.name}-inputs.npz", **arrays)
        self.command("predict", case.name, "--input", f"{case.name}-inputs.npz", "--output", f"{case.name}-y.npy", "--quiet")
        return numpy.load(self.folder / f"{case.name}-y.npy")

    def compare(self, run, inputs, lengths, expected) -> float:
        """The largest difference over batches of several sizes and, where lengths differ, paddings."""
        if abs(expected - expected[:1]).max() < 1e-4:
            raise AssertionError("matnet predicts the same for every input, which shows nothing")
        apart = 0.0
        everything = range(len(inputs))
        for batch in [list(everything), [0], [4], [2, 5, 1]]:
            some, wanted = inputs[batch], expected[batch]
            given = {"input": some}
            if lengths is not None:
                # Padding goes as far as the longest of the batch, and must not matter.
                longest = int(lengths[batch].max())
                fitting = min(some.shape[1], max(longest, least_steps(run, some)))
                some = some[:, :fitting].copy()
                for at, length in enumerate(lengths[batch]):
                    some[at, length:] = 7e3
                given = {"input": some, "lengths": lengths[batch].astype("int64")}
            outputs = run(given)
            values = outputs["values"] if "values" in outputs else outputs["probabilities"]
            if "label" in outputs:
                self.check_labels(outputs, lengths is not None and values.ndim == 3, lengths, batch)
            if wanted.shape != values.shape and wanted.ndim > 1 and wanted.shape[1] > values.shape[1]:
                wanted = wanted[:, : values.shape[1]]
            if wanted.shape != values.shape:
                raise AssertionError(f"shape {values.shape}, matnet gives {wanted.shape}")
            scale = max(1.0, float(abs(wanted).max()))
            # Written so that a NaN counts as far apart.
            apart = max(apart, float(numpy.nan_to_num(abs(values - wanted), nan=numpy.inf).max()) / scale)
        if not apart <= self.most:
            raise AssertionError(f"{apart:.2g} apart; {self.most} allowed")
        return apart

    def check_labels(self, outputs, padded, lengths, batch) -> None:
        best = outputs["probabilities"].argmax(-1)
        if padded:
            steps = numpy.arange(best.shape[1])[None] < lengths[batch][:, None]
            best = numpy.where(steps, best, -1)
        if not (outputs["label"] == best).all():
            raise AssertionError("label is not the most probable class")

    def in_runtime(self, session):
        names = [output.name for output in session.get_outputs()]
        return lambda given: dict(zip(names, session.run(names, given)))

    def in_tract(self, path, session):
        names = [output.name for output in session.get_outputs()]
        order = [given.name for given in session.get_inputs()]
        return lambda given: dict(zip(names, self.tract.run(path, [given[name] for name in order])[1]))


def least_steps(run, inputs) -> int:
    """Spectrograms need a window's worth of samples; the cases have windows of 32 at most."""
    return 32 if inputs.shape[1] > 32 else 1
