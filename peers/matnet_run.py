"""A trained matnet run in PyTorch: the net with its weights, and what is done to inputs before they reach it.

    from matnet_run import load
    run = load("runs/digits")
    probabilities = run.predict(x)        # x [n, rows, cols] or [n, time, rows, cols], as in the user's files
    scores = run(x)                       # the same before the softmax, and with gradients

A run is a folder with `config.toml`, where `[model]` has every size and option, and `best.safetensors`. The
metadata of the latter have one entry, `matnet`: a checksum, a space, and a note in JSON with the preprocessing,
the names of the classes and what the net was trained to give. Needs torch and safetensors.
"""

import json
import tomllib
from pathlib import Path

import torch
from safetensors import safe_open
from torch import Tensor, nn

import matnet_torch as peer


def load(folder: str | Path, weights: str = "best", dtype: torch.dtype = torch.float32) -> "Run":
    """The net of a run, ready to be used; `weights` is best or last."""
    folder = Path(folder)
    config = tomllib.loads((folder / "config.toml").read_text())["model"]
    with safe_open(folder / f"{weights}.safetensors", framework="pt") as file:
        note = json.loads(file.metadata()["matnet"].split(" ", 1)[1])
        tensors = {name: file.get_tensor(name) for name in file.keys()}
    net = peer.build(config["kind"].replace("-", "_"), config)
    net.load_state_dict(tensors)
    return Run(net, note).to(dtype).eval()


class Run(nn.Module):
    """A net and its preprocessing."""

    def __init__(self, net: nn.Module, note: dict):
        super().__init__()
        self.net, self.note = net, note
        self.classes: list[str] = note["classes"]
        self.preprocess = Preprocess(note["preprocess"])

    def forward(self, x: Tensor) -> Tensor:
        """Scores or matrices for raw inputs."""
        x = self.preprocess(x)
        if self.note["past"] is not None:
            x = x[:, : self.note["past"]]
        return self.net(x)

    @torch.no_grad()
    def predict(self, x: Tensor) -> Tensor:
        """Probabilities [n, classes] ([n, time, classes] for classes per step), or matrices."""
        given = self(x.to(next(self.parameters()).dtype))
        if self.note["target"] == "matrices":
            return torch.sigmoid(given) if self.note["logits"] else given
        if given.shape[-1] == 1:
            # One score is the logit of the second of two classes.
            second = torch.sigmoid(given)
            return torch.cat([1 - second, second], -1)
        return torch.softmax(given, -1)


class Preprocess(nn.Module):
    """Signals become spectrograms, rows and columns change places, numbers are shifted and scaled."""

    def __init__(self, note: dict):
        super().__init__()
        self.spectrogram = note["spectrogram"] and Spectrogram(note["spectrogram"])
        self.rows = self.cols = None
        if note["permutation"]:
            self.rows, self.cols = (torch.tensor(note["permutation"][side]) for side in ("rows", "cols"))
        scaler = note["scaler"]
        self.scaled = scaler is not None
        if self.scaled:
            shape = {
                "whole": (1, 1),
                "row": (scaler["rows"], 1),
                "entry": (scaler["rows"], scaler["cols"]),
            }[scaler["per"]]
            self.register_buffer("shift", torch.tensor(scaler["shift"]).reshape(shape))
            self.register_buffer("scale", torch.tensor(scaler["scale"]).reshape(shape))

    def forward(self, x: Tensor) -> Tensor:
        if self.spectrogram:
            x = self.spectrogram(x)
        if self.rows is not None:
            x = x[..., self.rows, :][..., self.cols]
        if self.scaled:
            x = (x - self.shift) / self.scale
        return x


class Spectrogram(nn.Module):
    """Signals [n, channels, samples] to sequences [n, time, channels, bins], zero frequency left out."""

    def __init__(self, note: dict):
        super().__init__()
        self.length, self.hop = note["window"], note["window"] - note["overlap"]
        self.mean, self.value, self.rate = note["mean"], note["value"], note["sample_rate"]

    def forward(self, signals: Tensor) -> Tensor:
        x = signals.double()
        if self.mean == "of-signal":
            x = x - x.mean(-1, keepdim=True)
        pieces = x.unfold(-1, self.length, self.hop)
        if self.mean == "of-window":
            pieces = pieces - pieces.mean(-1, keepdim=True)
        window = torch.hamming_window(self.length, dtype=x.dtype)
        bins = torch.fft.rfft(pieces * window)[..., 1:]
        if self.value == "magnitude":
            values = bins.abs() / window.sum()
        else:
            values = bins.abs() ** 2 / (self.rate * (window**2).sum())
            # A one-sided spectrum holds each frequency twice, but the highest of an even window once.
            twice = self.length // 2 - (self.length % 2 == 0)
            values[..., :twice] *= 2
        return values.transpose(1, 2).to(signals.dtype)
