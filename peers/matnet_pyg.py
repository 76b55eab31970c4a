"""The nets of matnet on graphs with PyTorch Geometric: the same equations, options and parameter names.

A graph is a list of relations, each an edge_index [2, edges] of PyG in which messages go from row 0 to row 1: node i
aggregates from j if (j, i) is in it. `relations` makes them from matnet's edges. GCN and Chebyshev are PyG's own
convolutions with our parameters put in; attention is written with PyG's softmax and scatter.
"""

import torch
from torch import Tensor, nn
from torch.func import functional_call
from torch_geometric.nn import ChebConv, GCNConv
from torch_geometric.utils import coalesce, scatter, softmax

import matnet_torch as peer


def relations(edges: list[Tensor], directed: bool) -> list[Tensor]:
    """Edges [count, 2] (i aggregates from j) as PyG's edge_index, each once, and both ways unless directed."""
    result = []
    for pairs in edges:
        both = torch.stack([pairs[:, 1], pairs[:, 0]])
        if not directed:
            both = torch.cat([both, both.flip(0)], 1)
        result.append(coalesce(both))
    return result


class FeatureMap(nn.Module):
    def __init__(self, features: int, output: int):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(features, output))
        self.bias = nn.Parameter(torch.empty(output))

    def forward(self, x: Tensor) -> Tensor:
        return torch.addmm(self.bias, x, self.weight)


class EdgeAttention(nn.Module):
    """softmax over j of g(hᵢ, hⱼ) = hᵢᵀWhⱼ + aᵀhᵢ + bᵀhⱼ + c, for every head; a and c make no difference."""

    def __init__(self, width: int, heads: int, shared: tuple[Tensor, Tensor] | None = None):
        super().__init__()
        self.score_map = nn.Parameter(torch.empty(heads, width, width))
        self.score_bias = nn.Parameter(torch.empty(heads, width))
        self.shared = shared

    def forward(self, edge_index: Tensor, h: Tensor) -> Tensor:
        heads, width, _ = self.score_map.shape
        source, target = edge_index
        query = h @ self.score_map.permute(1, 0, 2).flatten(1) + self.score_bias.flatten()
        query = query.view(-1, heads, width)
        keys = h[source].unsqueeze(1)
        scores = (query[target] * keys).sum(-1)
        if self.shared is not None:
            a, c = self.shared
            scores = scores + h[target] @ a.T + c
        weights = softmax(scores, target, num_nodes=len(h))
        return scatter(weights.unsqueeze(-1) * keys, target, dim_size=len(h)).flatten(1)


class ColumnLayer(nn.Module):
    def __init__(self, config: dict, shared: tuple[Tensor, Tensor] | None):
        super().__init__()
        width, self.aggregation = config["hidden"], config.get("aggregation", "mean")
        self.relations = config.get("num_relations", 1)
        heads, self.neighbours = config.get("heads", 10), config.get("num_neighbors", 50)
        many = {"mean": 1, "attention": heads, "concat": self.neighbours}[self.aggregation]
        self.activation = peer.ACTIVATIONS[config.get("activation", "relu")]
        self.own_map = nn.Parameter(torch.empty(2, width, width))
        self.neighbor_map = nn.Parameter(torch.empty(2, self.relations * many * width, width))
        self.bias = nn.Parameter(torch.empty(2, width))
        count = self.relations if self.aggregation == "attention" else 0
        self.attention = nn.ModuleList(EdgeAttention(width, heads, shared) for _ in range(count))

    def aggregate(self, relation: int, edge_index: Tensor, h: Tensor) -> Tensor:
        source, target = edge_index
        if self.aggregation == "attention":
            return self.attention[relation](edge_index, h)
        if self.aggregation == "mean":
            return scatter(h[source], target, dim_size=len(h), reduce="mean")
        # The neighbours of a node in order of their numbers, in slots; what is beyond is left out.
        order = torch.argsort(target * len(h) + source)
        source, target = source[order], target[order]
        first = torch.searchsorted(target, torch.arange(len(h)))
        slot = torch.arange(len(target)) - first[target]
        fits = slot < self.neighbours
        slots = h.new_zeros(len(h) * self.neighbours, h.shape[1])
        slots = slots.index_add(0, (target * self.neighbours + slot)[fits], h[source[fits]])
        return slots.view(len(h), -1)

    def forward(self, edge_indices: list[Tensor], h: Tensor) -> Tensor:
        aggregated = [self.aggregate(relation, edges, h) for relation, edges in enumerate(edge_indices)]
        joined = torch.cat([h, *aggregated], 1)
        maps = torch.cat([self.own_map, self.neighbor_map], 1).transpose(0, 1).flatten(1)
        gate, candidate = torch.addmm(self.bias.flatten(), joined, maps).chunk(2, 1)
        return torch.lerp(h, self.activation(candidate), torch.sigmoid(gate))


class ColumnNet(nn.Module):
    def __init__(self, config: dict, shared: tuple[Tensor, Tensor] | None = None):
        super().__init__()
        self.depth = config.get("depth", 5)
        self.activation = peer.ACTIVATIONS[config.get("activation", "relu")]
        self.input = FeatureMap(config["num_features"], config["hidden"])
        built = 1 if config.get("tied") else self.depth
        self.layer = nn.ModuleList(ColumnLayer(config, shared) for _ in range(built))
        self.head = FeatureMap(config["hidden"], config["num_classes"])

    def forward(self, edge_indices: list[Tensor], x: Tensor) -> Tensor:
        h = self.activation(self.input(x))
        for hop in range(self.depth):
            h = self.layer[min(hop, len(self.layer) - 1)](edge_indices, h)
        return self.head(h)


class GraphConv(nn.Module):
    """PyG's GCNConv, with the weight the way round it is here."""

    def __init__(self, features: int, output: int, cached: bool = False):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(features, output))
        self.bias = nn.Parameter(torch.empty(output))
        self.conv = [GCNConv(features, output, cached=cached)]

    def forward(self, edge_index: Tensor, x: Tensor) -> Tensor:
        return functional_call(self.conv[0], {"lin.weight": self.weight.T, "bias": self.bias}, (x, edge_index))


class Gcn(nn.Module):
    def __init__(self, config: dict, cached: bool = False):
        super().__init__()
        widths = [config["num_features"], *config["hidden"], config["num_classes"]]
        self.layer = nn.ModuleList(GraphConv(a, b, cached) for a, b in zip(widths, widths[1:]))
        self.activation = peer.ACTIVATIONS[config.get("activation", "relu")]

    def forward(self, edge_indices: list[Tensor], x: Tensor) -> Tensor:
        for layer in self.layer[:-1]:
            x = self.activation(layer(edge_indices[0], x))
        return self.layer[-1](edge_indices[0], x)


class Chebyshev(nn.Module):
    """PyG's ChebConv of order + 1 terms."""

    def __init__(self, features: int, output: int, order: int):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(order + 1, features, output))
        self.bias = nn.Parameter(torch.empty(output))
        self.conv = [ChebConv(features, output, order + 1)]

    def forward(self, edge_index: Tensor, x: Tensor, lambda_max: Tensor | None) -> Tensor:
        parameters = {f"lins.{k}.weight": weight.T for k, weight in enumerate(self.weight)}
        arguments = (x, edge_index), {"lambda_max": lambda_max}
        return functional_call(self.conv[0], parameters | {"bias": self.bias}, *arguments)


class ChebyshevNet(nn.Module):
    def __init__(self, config: dict):
        super().__init__()
        widths = [config["num_features"], *config["hidden"], config["num_classes"]]
        order = config.get("order", 2)
        self.layer = nn.ModuleList(Chebyshev(a, b, order) for a, b in zip(widths, widths[1:]))
        self.activation = peer.ACTIVATIONS[config.get("activation", "relu")]
        self.estimated = config.get("lambda_max") == "estimated"

    def forward(self, edge_indices: list[Tensor], x: Tensor) -> Tensor:
        largest = largest_eigenvalue(edge_indices[0], len(x)).to(x) if self.estimated else None
        for layer in self.layer[:-1]:
            x = self.activation(layer(edge_indices[0], x, largest))
        return self.layer[-1](edge_indices[0], x, largest)


def largest_eigenvalue(edge_index: Tensor, nodes: int) -> Tensor:
    """Of I − D^−½ A D^−½ without self loops, exactly."""
    adjacency = torch.zeros(nodes, nodes, dtype=torch.float64)
    adjacency[edge_index[1], edge_index[0]] = 1
    adjacency.fill_diagonal_(0)
    scale = adjacency.sum(1).clamp(min=1).rsqrt()
    return torch.linalg.eigvalsh(torch.eye(nodes) - scale[:, None] * adjacency * scale).max()


NETS = {"column_net": ColumnNet, "gcn": Gcn, "chebyshev_net": ChebyshevNet}
