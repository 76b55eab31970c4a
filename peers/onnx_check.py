"""The work of check-onnx."""

import json
import subprocess
import sys
from pathlib import Path

import numpy
import onnx
import onnxruntime

import onnx_cases
from onnx_tract import Tract


class Checker:
    def __init__(self, matnet: Path, folder: Path, tract: str | None, most: float):
        self.matnet, self.folder, self.most = matnet, folder, most
        self.tract = Tract(folder, tract) if tract else None

    def run(self, names, refused) -> int:
        checks = [(case.name, lambda case=case: self.check(case)) for case in onnx_cases.every(self.folder)]
        checks += [(case.name, lambda case=case: self.check_graph(case)) for case in onnx_cases.graphs()]
        checks += [(name, lambda name=name: self.check_turing(name)) for name in onnx_cases.turing_machines()]
        checks += [(name, lambda name=name, model=model: self.check_stories(name, model)) for name, model in onnx_cases.story_nets().items()]
        checks.append(("refusals", lambda: self.check_refusals(refused)))
        if forgotten := onnx_cases.template_names() - {name.removeprefix("template-") for name, _ in checks}:
            sys.exit(f"no case for the template of {', '.join(sorted(forgotten))}")
        failed, count = [], 0
        for name, check in checks:
            if names and not any(wanted in name for wanted in names):
                continue
            count += 1
            try:
                print(f"{name}: {check()}", flush=True)
            except Exception as error:  # One case must not hide the others.
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
        found, any_time = self.runs(path, runtime).items(), "joined" not in case.name
        return ", ".join(f"{self.compare(run, inputs, lengths, expected, any_time):.1e} {name}" for name, run in found)

    def check_graph(self, case) -> str:
        """Trains on one graph, and compares on two, one of which has other nodes and edges."""
        config, settings = self.folder / f"{case.name}.toml", ["--set", "train.epochs=2"]
        if case.template:
            config.write_text(self.command("new", case.template))
        else:
            arrays, _ = onnx_cases.random_graph(case, 6, 30, 1)
            numpy.savez(self.folder / f"{case.name}.npz", **arrays)
            config.write_text(f"[data]\nsource = '{case.name}.npz'\nnormalize = '{case.normalize}'\n[model]\n{case.model}\n")
        if not (self.folder / case.name).exists():
            self.command("train", config.name, "--quiet", "--out", case.name, *settings)
        self.command("export", case.name, "--onnx", f"{case.name}.onnx", "--quiet")
        path = self.folder / f"{case.name}.onnx"
        onnx.checker.check_model(onnx.load(path), full_check=True)
        runtime = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
        width = runtime.get_inputs()[0].shape[1]
        far = {}
        for nodes, seed in [(30, 1), (43, 2)]:
            arrays, given = onnx_cases.random_graph(case, width, nodes, seed)
            numpy.savez(self.folder / f"{case.name}-inputs.npz", **arrays)
            self.command("predict", case.name, "--input", f"{case.name}-inputs.npz", "--output", f"{case.name}-y.npy", "--quiet")
            expected = numpy.load(self.folder / f"{case.name}-y.npy")
            if abs(expected - expected[:1]).max() < 1e-4:
                raise AssertionError("matnet predicts the same for every node, which shows nothing")
            for name, run in self.runs(path, runtime).items():
                apart = float(numpy.nan_to_num(abs(run(given)["probabilities"] - expected), nan=numpy.inf).max())
                if not apart <= self.most:
                    raise AssertionError(f"{name}: {apart:.2g} apart; {self.most} allowed")
                far[name] = max(far.get(name, 0.0), apart)
        return ", ".join(f"{apart:.1e} {name}" for name, apart in far.items())

    def check_turing(self, name) -> str:
        """A Turing machine: bits against `matnet predict`, and logits, which that does not give, against PyTorch's for the same weights."""
        folder, logits = onnx_cases.REFERENCE / name, None
        if folder.exists():
            inputs, logits = numpy.load(folder / "input.npy"), numpy.load(folder / "scores.npy")
            self.command("export", folder, "--onnx", f"{name}.onnx", "--quiet")
        else:
            case, folder = onnx_cases.turing_template(), self.folder / name
            self.export(case)
            inputs = case.inputs
        # Matrices of one row may be left out in files.
        inputs, path = inputs.reshape(*inputs.shape[:2], 1, -1).astype("float32"), self.folder / f"{name}.onnx"
        onnx.checker.check_model(onnx.load(path), full_check=True)
        numpy.save(self.folder / f"{name}-x.npy", inputs)
        self.command("predict", folder, "--input", f"{name}-x.npy", "--output", f"{name}-y.npy", "--quiet")
        expected = numpy.load(self.folder / f"{name}-y.npy")
        runtime = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
        if logits is None:
            # ONNX Runtime's bits are compared with matnet's, tract's logits with ONNX Runtime's.
            logits = self.in_runtime(runtime)({"input": inputs})["logits"]
        if numpy.ptp(logits, axis=0).max() < 1e-3:
            raise AssertionError("the logits are the same for every input, which shows nothing")
        far = {}
        for program, run in self.runs(path, runtime).items():
            for batch in [list(range(len(inputs))), [0], [2, 1]]:
                outputs, wanted = run({"input": inputs[batch]}), logits[batch].reshape(expected[batch].shape)
                apart = float(numpy.nan_to_num(abs(outputs["logits"] - wanted), nan=numpy.inf).max()) / max(1.0, float(abs(wanted).max()))
                # A logit next to 0 may be on either side of it.
                sure = abs(wanted) > self.most
                if not apart <= self.most or not (outputs["values"] == expected[batch])[sure].all():
                    raise AssertionError(f"{program}: {apart:.2g} apart; {self.most} allowed")
                far[program] = max(far.get(program, 0.0), apart)
        return ", ".join(f"{apart:.1e} {program}" for program, apart in far.items())

    def check_stories(self, name, model) -> str:
        """A net on stories, whose words are numbers in ONNX."""
        folder, text = onnx_cases.REFERENCE / name, onnx_cases.STORIES
        if folder.exists():
            text = (folder / "input.txt").read_text()
        else:
            folder, config = self.folder / name, self.folder / f"{name}.toml"
            settings = ["train.epochs=2"]
            if model is None:
                config.write_text(self.command("new", name.removeprefix("template-")))
            else:
                (self.folder / "stories.txt").write_text(text * 12)
                config.write_text(f"[data]\nsource = 'stories.txt'\n[data.split]\nvalid = 0.1\ntest = 0.2\n[model]\n{model}\n")
                settings = ["train.epochs=9"]
            if not folder.exists():
                self.command("train", config.name, "--quiet", "--out", name, *[part for setting in settings for part in ("--set", setting)])
        path = self.folder / f"{name}.onnx"
        self.command("export", folder, "--onnx", path, "--quiet")
        onnx.checker.check_model(onnx.load(path), full_check=True)
        runtime = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
        words = json.loads(runtime.get_modelmeta().custom_metadata_map["matnet.classes"])
        text = onnx_cases.of_words(text, words)
        (self.folder / f"{name}-x.txt").write_text(text)
        self.command("predict", folder, "--input", f"{name}-x.txt", "--output", f"{name}-y.npy", "--quiet")
        expected = numpy.load(self.folder / f"{name}-y.npy")
        if abs(expected - expected[:1]).max() < 1e-4:
            raise AssertionError("matnet predicts the same for every question, which shows nothing")
        stories, questions = onnx_cases.numbered(text, words)
        far = {}
        for program, run in self.runs(path, runtime).items():
            for batch in [list(range(len(questions))), [0], [2, 1]]:
                values = run({"stories": stories[batch], "questions": questions[batch]})["probabilities"]
                apart = float(numpy.nan_to_num(abs(values - expected[batch]), nan=numpy.inf).max())
                if not apart <= self.most:
                    raise AssertionError(f"{program}: {apart:.2g} apart; {self.most} allowed")
                far[program] = max(far.get(program, 0.0), apart)
        return ", ".join(f"{apart:.1e} {program}" for program, apart in far.items())

    def runs(self, path, runtime):
        """A function for each program, from inputs to outputs."""
        return {"ONNX Runtime": self.in_runtime(runtime)} | ({"tract": self.in_tract(path, runtime)} if self.tract else {})

    def check_refusals(self, refused) -> str:
        """What cannot be exported is refused with exit code 2, and an existing file stays as it is."""
        kept = self.folder / "kept.onnx"
        kept.write_text("mine")
        for kind, settings, why in refused:
            config = self.folder / f"refused-{kind}.toml"
            config.write_text(self.command("new", kind))
            settings = [part for setting in ["train.epochs=1", *settings] for part in ("--set", setting)]
            self.command("train", config.name, "--quiet", "--fresh", "--out", f"refused-{kind}", *settings)
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
                settings += [f"data.source={case.name}.npz"] if case.arrays else case.settings
            else:
                text = case.config
                if "source" not in text:
                    source = f"[data]\nsource = '{case.name}.npz'\n"
                    text = text.replace("[data]\n", source) if "[data]" in text else source + text
                config.write_text(text)
            settings = [part for setting in settings for part in ("--set", setting)]
            self.command("train", config.name, "--quiet", "--out", case.name, *settings)
        self.command("export", case.name, "--onnx", f"{case.name}.onnx", "--quiet", *case.options)

    def predict(self, case, inputs, lengths):
        arrays = {"x": inputs} | ({"length": lengths} if lengths is not None else {})
        numpy.savez(self.folder / f"{case.name}-inputs.npz", **arrays)
        self.command("predict", case.name, "--input", f"{case.name}-inputs.npz", "--output", f"{case.name}-y.npy", "--quiet")
        return numpy.load(self.folder / f"{case.name}-y.npy")

    def compare(self, run, inputs, lengths, expected, any_time) -> float:
        """The largest difference over batches of several sizes and, where lengths differ and the net takes any, paddings."""
        if abs(expected - expected[:1]).max() < 1e-4:
            raise AssertionError("matnet predicts the same for every input, which shows nothing")
        apart = 0.0
        everything = range(len(inputs))
        for batch in [list(everything), [0], [4], [2, 5, 1]]:
            some, wanted = inputs[batch], expected[batch]
            given = {"input": some}
            if lengths is not None:
                # Padding goes as far as the longest of the batch, and must not matter.
                longest = int(lengths[batch].max()) if any_time else some.shape[1]
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
