"""PyTorch Geometric's side of `bench-large-graphs`: the same net on the same graph and splits, by its `NeighborLoader`.

    python peers/neighbor_loader.py SOURCE SPLIT RESULT

SOURCE is a folder with edges.npy, features.npy and labels.npy, SPLIT the split.json of a run. One epoch of mini-batches of 1,024 nodes with 10
neighbours per node and hop, then all splits evaluated in the same way. Writes the error on the test split, and where the time went.

NeighborLoader draws neighbours with pyg-lib or torch-sparse. PyPI has only the source of torch-sparse: unpacked where TORCH_SPARSE names it, the
part that draws neighbours is compiled there once, with g++.
"""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
import torch_geometric
from torch.utils import cpp_extension
from torch_geometric.data import Data
from torch_geometric.loader import NeighborLoader
from torch_geometric.nn import GCNConv

CLASSES, HIDDEN, BATCH = 10, 64, 1024


class Gcn(torch.nn.Module):
    def __init__(self, features: int):
        super().__init__()
        self.first, self.second = GCNConv(features, HIDDEN), GCNConv(HIDDEN, CLASSES)

    def forward(self, x: torch.Tensor, edges: torch.Tensor) -> torch.Tensor:
        return self.second(torch.relu(self.first(x, edges)), edges)


def draw_with_torch_sparse(source: Path) -> None:
    """Compiles what draws neighbours, and registers it as torch-sparse would."""
    library, code = source / "neighbor_sample.so", source / "csrc"
    if not library.exists():
        include = [*cpp_extension.include_paths(), source / "third_party/parallel-hashmap"]
        link = [f"-L{folder}" for folder in cpp_extension.library_paths()]
        command = ["g++", "-O2", "-fopenmp", "-shared", "-fPIC", "-std=c++20", *(f"-I{folder}" for folder in include)]
        files = [code / "neighbor_sample.cpp", code / "cpu/neighbor_sample_cpu.cpp"]
        libraries = ["-ltorch", "-ltorch_cpu", "-lc10"]
        subprocess.run([*command, *files, *link, *libraries, "-o", library], check=True)
    torch.ops.load_library(library)
    torch_geometric.typing.WITH_TORCH_SPARSE = True


def load(source: Path) -> Data:
    features = torch.from_numpy(np.load(source / "features.npy"))
    edges = torch.from_numpy(np.load(source / "edges.npy").astype("int64").T.copy())
    labels = torch.from_numpy(np.load(source / "labels.npy").astype("int64"))
    return Data(x=features, edge_index=torch.cat([edges, edges.flip(0)], 1), y=labels)


def main() -> None:
    if "TORCH_SPARSE" in os.environ:
        draw_with_torch_sparse(Path(os.environ["TORCH_SPARSE"]))
    source, split, result = map(Path, sys.argv[1:])
    torch.manual_seed(1)
    split = json.loads(split.read_text())
    clock = {"start": time.monotonic()}
    data = load(source)
    loaders, sampler = {}, None
    for name, nodes in split.items():
        # The loaders share the sorted edges, which each would hold for itself.
        options = {"batch_size": BATCH, "shuffle": name == "train", "neighbor_sampler": sampler}
        loaders[name] = NeighborLoader(data, [10, 10], input_nodes=torch.tensor(nodes), **options)
        sampler = loaders[name].node_sampler
    clock["loaded"] = time.monotonic()
    net = Gcn(data.num_features)
    optimizer = torch.optim.Adam(net.parameters(), 0.01)
    for batch in loaders["train"]:
        optimizer.zero_grad()
        scores = net(batch.x, batch.edge_index)[: batch.batch_size]
        F.cross_entropy(scores, batch.y[: batch.batch_size]).backward()
        optimizer.step()
    clock["trained"] = time.monotonic()
    wrong = {}
    with torch.no_grad():
        for name, loader in loaders.items():
            scores = ((net(b.x, b.edge_index)[: b.batch_size], b.y[: b.batch_size]) for b in loader)
            wrong[name] = sum(int((s.argmax(1) != y).sum()) for s, y in scores) / len(split[name])
    clock["evaluated"] = time.monotonic()
    times = {end: round(clock[end] - clock[begin], 1) for begin, end in zip(clock, list(clock)[1:])}
    result.write_text(json.dumps({"test": wrong["test"], **times, "torch": torch.__version__}))


if __name__ == "__main__":
    main()
