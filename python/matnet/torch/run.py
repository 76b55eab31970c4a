"""A trained matnet run in PyTorch: the net with its weights, and what is done to inputs before they reach it.

    from matnet.torch import load
    run = load("runs/digits")
    probabilities = run.predict(x)        # x [n, rows, cols] or [n, time, rows, cols], as in the user's files
    scores = run(x)                       # the same before the softmax, and with gradients

A run on stories takes what `read_stories` makes of a text file, and gives the probabilities of all words for every
question, `run.words` in their order; a run of an algorithmic task takes sequences, and gives bits.

A run is a folder with `config.toml`, where `[model]` has every size and option, and `best.safetensors`. The
metadata of the latter have one entry, `matnet`: a checksum, a space, and JSON with the preprocessing, the
names of the classes and what the net was trained to give. Needs torch and safetensors.
"""

import json
import re
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from safetensors import safe_open
from torch import Tensor, nn

from matnet._stories import stories_of
from matnet.torch import nets
from matnet.torch.graph import GRAPH_NETS, Graph
from matnet.torch.layers import within
from matnet.torch.memory import EndToEnd, MemoryNetwork

#: One flag for all edges, or the names of the directed relations.
Directed = bool | list[str] | None

STORY_NETS = {"end-to-end-memory": EndToEnd, "memory-network": MemoryNetwork}


def load(folder: str | Path, weights: str = "best", dtype: torch.dtype = torch.float32) -> nn.Module:
    """The net of a run, ready to be used; `weights` is best or last."""
    folder = Path(folder)
    whole = tomllib.loads((folder / "config.toml").read_text(encoding="utf-8"))
    config, data = whole["model"], whole["data"]
    with safe_open(folder / f"{weights}.safetensors", framework="pt") as file:
        metadata = json.loads(file.metadata()["matnet"].split(" ", 1)[1])
        tensors = {name: file.get_tensor(name) for name in file.keys()}
    kind = config["kind"]
    if kind in STORY_NETS:
        run = StoryRun(STORY_NETS[kind](config), metadata)
    elif kind in GRAPH_NETS:
        run = GraphRun(GRAPH_NETS[kind](config), metadata, data.get("directed"))
    else:
        net = nets.build(kind.replace("-", "_"), config)
        run = AlgorithmRun(net) if kind == "turing-machine" else Run(net, metadata, kind)
        if (data.get("augment") or {}).get("crop"):
            raise NotImplementedError(
                "augment.crop: inputs of this run are cropped in a way that matnet.torch does not have"
            )
    run.net.load_state_dict(tensors)
    return run.to(dtype).eval()


class Run(nn.Module):
    """A net and its preprocessing."""

    def __init__(self, net: nn.Module, metadata: dict[str, Any], kind: str):
        super().__init__()
        self.net, self.metadata, self.kind = net, metadata, kind
        self.classes: list[str] = metadata["classes"]
        self.preprocess = Preprocess(metadata["preprocess"])

    def forward(self, x: Tensor, lengths: Tensor | None = None) -> Tensor:
        """Scores or matrices for raw inputs; `lengths` has the steps of each sequence, where they are padded."""
        if lengths is None:
            x = self.preprocess(x)
            if self.metadata["context_length"] is not None:
                x = x[:, : self.metadata["context_length"]]
            return self.net(x)
        return self.net(self.preprocess(x), self.checked(lengths, x))

    def checked(self, lengths: Tensor, x: Tensor) -> Tensor:
        """The lengths of sequences, one for each."""
        lengths = torch.as_tensor(lengths, device=x.device)
        if not self.kind.startswith("seq"):
            raise ValueError(f"lengths: a {self.kind} takes single matrices")
        if self.preprocess.spectrogram:
            raise NotImplementedError(
                "lengths: signals of different lengths, whose spectrograms matnet.torch does not have"
            )
        if lengths.shape != x.shape[:1] or lengths.is_floating_point() or lengths.is_complex():
            raise ValueError(
                f"lengths: shape {tuple(lengths.shape)} of {lengths.dtype}; an integer for each of {len(x)} expected"
            )
        if len(lengths) and not 1 <= int(lengths.min()) <= int(lengths.max()) <= x.shape[1]:
            raise ValueError(f"lengths: {int(lengths.min())} to {int(lengths.max())}; 1 to {x.shape[1]} expected")
        return lengths.long()

    @torch.no_grad()
    def predict(self, x: Tensor, lengths: Tensor | None = None) -> Tensor:
        """Probabilities [n, classes] ([n, time, classes] for classes per step), values, or matrices."""
        predicted = self.predicted(self(x.to(next(self.parameters()).dtype), lengths))
        if lengths is None or self.kind != "sequence-labeller":
            return predicted
        return within(predicted, self.checked(lengths, x))

    def predicted(self, given: Tensor) -> Tensor:
        """Scores as probabilities, outputs in the units of the targets."""
        target = self.metadata["target"]
        if target == "matrices":
            return self.scaled_back(torch.sigmoid(given) if self.metadata["logits"] else given)
        if target == "values":
            return self.scaled_back(given)
        if target == "labels":
            return torch.sigmoid(given)
        return probabilities(given)

    def scaled_back(self, given: Tensor) -> Tensor:
        """Outputs in the units of the targets."""
        scaler = self.metadata["preprocess"].get("target_scaler")
        if scaler is None:
            return given
        shift, scale = (torch.tensor(scaler[name]).to(given) for name in ("shift", "scale"))
        if given.ndim == 2:
            return given * scale + shift
        sides = {
            "whole": (1, 1),
            "row": (-1, 1),
            "column": (1, -1),
            "entry": tuple(given.shape[-2:]),
        }[scaler["per"]]
        return given * scale.reshape(sides) + shift.reshape(sides)


def probabilities(scores: Tensor) -> Tensor:
    """Of all classes; one score is the logit of the second of two."""
    if scores.shape[-1] == 1:
        second = torch.sigmoid(scores)
        return torch.cat([1 - second, second], -1)
    return torch.softmax(scores, -1)


class GraphRun(nn.Module):
    """A net that gives the nodes of a graph classes."""

    def __init__(self, net: nn.Module, metadata: dict[str, Any], directed: Directed = None):
        super().__init__()
        self.net, self.metadata, self.directed = net, metadata, directed
        self.classes: list[str] = metadata["classes"]
        self.relations: list[str] = metadata.get("relations", [])

    def forward(
        self,
        features: Tensor,
        edges: Tensor,
        relations: Sequence[Any] | None = None,
        directed: Directed = None,
    ) -> Tensor:
        """Scores [nodes, classes].

        `features` are [nodes, k]; `edges` [count, 2] or [2, count], nodes from 0, of which the first aggregates from the second and,
        unless `directed`, the second from the first; `relations` names the relation of every edge, where there are several.
        `directed` is one flag for all edges, or a list with the names of the directed relations.
        """
        if self.metadata["normalize"] == "rows":
            total = features.abs().sum(1, keepdim=True)
            features = features / torch.where(total > 0, total, torch.ones_like(total))
        return self.net(self.graph(len(features), edges, relations, directed), features)

    def graph(self, nodes: int, edges: Tensor, relations: Sequence[Any] | None, directed: Directed) -> Graph:
        edges = torch.as_tensor(edges, device=next(self.parameters()).device).long()
        if edges.ndim != 2 or 2 not in edges.shape:
            raise ValueError(f"edges: shape {tuple(edges.shape)}; [edges, 2] or [2, edges] expected")
        edges = edges if edges.shape[1] == 2 else edges.T
        if len(edges) and not 0 <= int(edges.min()) <= int(edges.max()) < nodes:
            raise ValueError(f"edges: nodes {int(edges.min())} to {int(edges.max())}; 0 to {nodes - 1} expected")
        directed = self.directed if directed is None else directed
        directed = directed if isinstance(directed, bool) or directed is None else list(directed)
        if relations is None:
            if len(self.relations) > 1:
                raise ValueError(f"relations: one of {', '.join(self.relations)} for each edge expected")
            return Graph(nodes, [edges], [bool(directed) and not isinstance(directed, list)])
        names = [str(name.item() if hasattr(name, "item") else name) for name in relations]
        if len(names) != len(edges):
            raise ValueError(f"relations: {len(names)} for {len(edges)} edges")
        known = self.relations or sorted(set(names))
        if unknown := set(names) - set(known):
            raise ValueError(f"relations: {sorted(unknown)[0]!r}; one of {', '.join(known)} expected")
        parts = [edges[torch.tensor([name == one for name in names], device=edges.device)] for one in known]
        return Graph(nodes, parts, [one in directed if isinstance(directed, list) else bool(directed) for one in known])

    @torch.no_grad()
    def predict(
        self,
        features: Tensor,
        edges: Tensor,
        relations: Sequence[Any] | None = None,
        directed: Directed = None,
    ) -> Tensor:
        """Probabilities [nodes, classes]."""
        return probabilities(self(features.to(next(self.parameters()).dtype), edges, relations, directed))


class AlgorithmRun(nn.Module):
    """A net that has learnt an algorithmic task."""

    def __init__(self, net: nn.Module):
        super().__init__()
        self.net = net

    def forward(self, x: Tensor) -> Tensor:
        """A score for every bit of every step, for [n, time, rows, cols], or [n, time, cols] of one row."""
        return self.net(x[:, :, None] if x.ndim == 3 else x)

    @torch.no_grad()
    def predict(self, x: Tensor) -> Tensor:
        """The bits [n, time, rows, cols]."""
        dtype = next(self.parameters()).dtype
        return (self(x.to(dtype)) > 0).to(dtype)


class StoryRun(nn.Module):
    """A net that answers questions about stories, and the words it knows."""

    def __init__(self, net: nn.Module, metadata: dict[str, Any]):
        super().__init__()
        self.net = net
        self.words: list[str] = metadata["words"]

    def forward(self, stories: list[Any]) -> Tensor:
        """A score for every word, for every question of stories as `matnet.train` takes them."""
        asked = [(told[:after], text) for told, asked in stories_of(stories, "stories") for text, _, after, _ in asked]
        stories = [[self.numbers(sentence) for sentence in told] for told, _ in asked]
        questions = [self.numbers(question) for _, question in asked]
        pad = lambda words, length: words + [0] * (length - len(words))
        longest = max(len(words) for story in [*stories, questions] for words in story)
        most = max(1, *map(len, stories))
        full = [[pad(words, longest) for words in story + [[]] * (most - len(story))] for story in stories]
        return self.net(torch.tensor(full), torch.tensor([pad(words, longest) for words in questions]))

    @torch.no_grad()
    def predict(self, stories: list[Any]) -> Tensor:
        """Probabilities [questions, words]."""
        return torch.softmax(self(stories), -1)

    def numbers(self, text: str) -> list[int]:
        """A sentence as numbers of words, from 1."""
        return [self.words.index(word) + 1 for word in re.split(r"[\s.?!,]+", text.lower()) if word]


def read_stories(path: str | Path) -> list[tuple[list[str], str]]:
    """Every question of a text file, with the sentences told before it. A story ends at an empty line or, where lines
    are numbered, before the next 1."""
    told: list[str] = []
    asked: list[tuple[list[str], str]] = []
    for line in Path(path).read_text().splitlines():
        line = line.strip().split("\t")[0]
        number, text = re.findall(r"^(\d+ )?(.*)", line)[0]
        if not text or number == "1 ":
            told = []
        if text.endswith("?"):
            asked.append((list(told), text))
        elif text:
            told.append(text)
    return asked


class Preprocess(nn.Module):
    """Signals become spectrograms, rows and columns change places, numbers are shifted and scaled."""

    def __init__(self, metadata: dict[str, Any]):
        super().__init__()
        for key in ("fill", "missing_mask", "log", "log_mel", "join", "windows"):
            if metadata.get(key):
                raise NotImplementedError(
                    f"{key}: inputs of this run are transformed in a way that matnet.torch does not have"
                )
        self.spectrogram = metadata["spectrogram"] and Spectrogram(metadata["spectrogram"])
        self.rows = self.cols = None
        if metadata["permutation"]:
            self.rows, self.cols = (torch.tensor(metadata["permutation"][side]) for side in ("rows", "cols"))
        scaler = metadata["scaler"]
        self.scaled = scaler is not None
        if self.scaled:
            shape = {
                "whole": (1, 1),
                "row": (scaler["rows"], 1),
                "column": (1, scaler["cols"]),
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

    def __init__(self, metadata: dict[str, Any]):
        super().__init__()
        self.length, self.hop = metadata["window"], metadata["window"] - metadata["overlap"]
        self.mean, self.value, self.rate = metadata["mean"], metadata["value"], metadata["sample_rate"]

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
