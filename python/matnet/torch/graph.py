"""The nets on graphs in PyTorch, with nothing else: the same equations, options and parameter names as matnet's.

Node i aggregates from node j if (i, j) is an edge, and j from i unless the edge is directed. Repeated edges count once.
"""

import warnings
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from matnet.torch.layers import ACTIVATIONS

Edges = tuple[Tensor, Tensor]  # the nodes that aggregate, and those that they aggregate from


class Graph:
    """The edges of every relation, in both directions where they are not directed, each once and in order."""

    def __init__(self, nodes: int, relations: list[Tensor], directed: list[bool]):
        self.nodes, self.symmetric = nodes, not any(directed)
        self.relations = [
            self.ordered(pairs if one_way else torch.cat([pairs, pairs.flip(1)]))
            for pairs, one_way in zip(relations, directed)
        ]

    def ordered(self, pairs: Tensor) -> Edges:
        keys = torch.unique(pairs[:, 0] * self.nodes + pairs[:, 1])
        return keys // self.nodes, keys % self.nodes

    def union(self) -> Edges:
        """All relations as one."""
        return self.ordered(torch.cat([torch.stack(edges, 1) for edges in self.relations]))

    def degrees(self, edges: Edges, like: Tensor) -> Tensor:
        return like.new_zeros(self.nodes).index_add(0, edges[0], like.new_ones(len(edges[0])))

    def gathered(self, edges: Edges, values: Tensor) -> Tensor:
        """The sum of the values of every node's edges."""
        return values.new_zeros(self.nodes, *values.shape[1:]).index_add(0, edges[0], values)

    def renormalized(self, like: Tensor) -> tuple[Edges, Tensor]:
        """D̃^−½ (A + I) D̃^−½: edges and their weights."""
        loops = torch.arange(self.nodes, device=like.device)
        pairs = torch.cat([torch.stack(self.union(), 1), torch.stack([loops, loops], 1)])
        edges = self.ordered(pairs)
        degrees = self.degrees(edges, like)
        return edges, (degrees[edges[0]] * degrees[edges[1]]).rsqrt()

    def laplacian(self, like: Tensor, estimated: bool) -> tuple[Edges, Tensor, Tensor]:
        """2L/λ − I without self loops: edges, their weights, and the weight of the diagonal."""
        target, source = self.union()
        other = target != source
        edges = target[other], source[other]
        degrees = self.degrees(edges, like.double())
        if self.symmetric:
            weights = -(degrees[edges[0]] * degrees[edges[1]]).rsqrt()
        else:
            weights = -1 / degrees[edges[0]]
        largest = self.largest_eigenvalue(edges, weights) if estimated else 2.0
        return edges, (2 / largest * weights).to(like), like.new_tensor(2 / largest - 1)

    def largest_eigenvalue(self, edges: Edges, weights: Tensor) -> float:
        """Of the Laplacian, between 1 and 2, by power iteration."""
        start = torch.randn(self.nodes, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
        vector, steps, last, growth = start.to(weights), 300, 0.0, 0.0
        for step in range(steps):
            following = vector + self.gathered(edges, weights * vector[edges[1]])
            factor = float(following.norm() / vector.norm())
            if factor == 0 or abs(factor - last) < 1e-10:
                return min(max(factor, 1.0), 2.0)
            last = factor
            if step >= steps // 2:
                growth += torch.tensor(factor, dtype=torch.float64).log().item() / (steps - steps // 2)
            vector = following / following.norm()
        return min(max(float(torch.tensor(growth, dtype=torch.float64).exp()), 1.0), 2.0)


class FeatureMap(nn.Module):
    """XW + b"""

    def __init__(self, features: int, output: int):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(features, output))
        self.bias = nn.Parameter(torch.zeros(output))

    def forward(self, x: Tensor) -> Tensor:
        return torch.addmm(self.bias, x, self.weight)


class EdgeAttention(nn.Module):
    """Softmax over the neighbours j of hᵢᵀWhⱼ + bᵀhⱼ, for every head."""

    def __init__(self, width: int, heads: int):
        super().__init__()
        self.score_map = nn.Parameter(torch.zeros(heads, width, width))
        self.score_bias = nn.Parameter(torch.zeros(heads, width))

    def forward(self, graph: Graph, edges: Edges, h: Tensor) -> Tensor:
        heads, width, _ = self.score_map.shape
        target, source = edges
        query = h @ self.score_map.permute(1, 0, 2).flatten(1) + self.score_bias.flatten()
        keys = h[source].unsqueeze(1)
        scores = (query.view(-1, heads, width)[target] * keys).sum(-1)
        with torch.no_grad():
            places = target.unsqueeze(-1).expand_as(scores)
            most = scores.new_full((graph.nodes, heads), -torch.inf).scatter_reduce(0, places, scores, "amax")
        shares = (scores - most[target]).exp()
        weights = shares / graph.gathered(edges, shares)[target]
        return graph.gathered(edges, weights.unsqueeze(-1) * keys).flatten(1)


class ColumnLayer(nn.Module):
    """A highway layer over a node's own state and the aggregate of its neighbours' states."""

    def __init__(self, config: dict[str, Any]):
        super().__init__()
        width, self.aggregation = config["hidden"], config.get("aggregation", "mean")
        self.count = config.get("num_relations", 1)
        heads, self.slots = config.get("heads") or 10, config.get("num_neighbors") or 50
        many = {"mean": 1, "attention": heads, "concat": self.slots}[self.aggregation]
        self.activation = ACTIVATIONS[config.get("activation", "relu")]
        self.own_map = nn.Parameter(torch.zeros(2, width, width))
        self.neighbor_map = nn.Parameter(torch.zeros(2, self.count * many * width, width))
        self.bias = nn.Parameter(torch.zeros(2, width))
        attending = self.count if self.aggregation == "attention" else 0
        self.attention = nn.ModuleList(EdgeAttention(width, heads) for _ in range(attending))

    def aggregate(self, graph: Graph, relation: int, h: Tensor) -> Tensor:
        edges = graph.relations[relation]
        if self.aggregation == "attention":
            return self.attention[relation](graph, edges, h)
        if self.aggregation == "mean":
            total = graph.gathered(edges, h[edges[1]])
            return total / graph.degrees(edges, h).clamp(min=1).unsqueeze(-1)
        # The neighbours of a node in order of their numbers, in slots.
        target, source = edges
        first = torch.searchsorted(target, torch.arange(graph.nodes, device=target.device))
        slot = torch.arange(len(target), device=target.device) - first[target]
        fits = slot < self.slots
        if not fits.all():
            warnings.warn(
                f"a node has more than {self.slots} neighbours: those with the lowest numbers are taken, where matnet draws some",
                stacklevel=2,
            )
        slots = h.new_zeros(graph.nodes * self.slots, h.shape[1])
        return slots.index_add(0, (target * self.slots + slot)[fits], h[source[fits]]).view(graph.nodes, -1)

    def forward(self, graph: Graph, h: Tensor) -> Tensor:
        joined = torch.cat([h, *(self.aggregate(graph, relation, h) for relation in range(self.count))], 1)
        maps = torch.cat([self.own_map, self.neighbor_map], 1).transpose(0, 1).flatten(1)
        gate, candidate = torch.addmm(self.bias.flatten(), joined, maps).chunk(2, 1)
        return torch.lerp(h, self.activation(candidate), torch.sigmoid(gate))


class ColumnNet(nn.Module):
    """The column network: features, layers of highways over neighbours, classes."""

    def __init__(self, config: dict[str, Any]):
        super().__init__()
        self.depth = config.get("depth", 5)
        self.activation = ACTIVATIONS[config.get("activation", "relu")]
        self.input = FeatureMap(config["num_features"], config["hidden"])
        built = 1 if config.get("tied") else self.depth
        self.layer = nn.ModuleList(ColumnLayer(config) for _ in range(built))
        self.head = FeatureMap(config["hidden"], config["num_classes"])

    def forward(self, graph: Graph, x: Tensor) -> Tensor:
        h = self.activation(self.input(x))
        for hop in range(self.depth):
            h = self.layer[min(hop, len(self.layer) - 1)](graph, h)
        return self.head(h)


class Gcn(nn.Module):
    """The graph convolutional network: Y = σ(Â X Θ + b), the last layer without σ."""

    def __init__(self, config: dict[str, Any]):
        super().__init__()
        widths = [config["num_features"], *config["hidden"], config["num_classes"]]
        self.layer = nn.ModuleList(FeatureMap(a, b) for a, b in zip(widths, widths[1:]))
        self.activation = ACTIVATIONS[config.get("activation", "relu")]

    def forward(self, graph: Graph, x: Tensor) -> Tensor:
        edges, weights = graph.renormalized(x)
        for at, layer in enumerate(self.layer):
            x = x @ layer.weight
            x = graph.gathered(edges, weights.unsqueeze(-1) * x[edges[1]]) + layer.bias
            x = self.activation(x) if at + 1 < len(self.layer) else x
        return x


class Chebyshev(nn.Module):
    """Σₖ Tₖ(L̃) X Θₖ + b"""

    def __init__(self, features: int, output: int, order: int):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(order + 1, features, output))
        self.bias = nn.Parameter(torch.zeros(output))

    def forward(self, times: Callable[[Tensor], Tensor], x: Tensor) -> Tensor:
        """`times` multiplies with the scaled Laplacian."""
        before, now = None, x
        total = x @ self.weight[0] + self.bias
        for weight in self.weight[1:]:
            before, now = now, times(now) if before is None else 2 * times(now) - before
            total = total + now @ weight
        return total


class ChebyshevNet(nn.Module):
    """Layers of Chebyshev polynomials, the last without σ."""

    def __init__(self, config: dict[str, Any]):
        super().__init__()
        widths = [config["num_features"], *config["hidden"], config["num_classes"]]
        order = config.get("order", 2)
        self.layer = nn.ModuleList(Chebyshev(a, b, order) for a, b in zip(widths, widths[1:]))
        self.activation = ACTIVATIONS[config.get("activation", "relu")]
        self.estimated = config.get("lambda_max") == "estimated"

    def forward(self, graph: Graph, x: Tensor) -> Tensor:
        edges, weights, diagonal = graph.laplacian(x, self.estimated)

        def times(x: Tensor) -> Tensor:
            return diagonal * x + graph.gathered(edges, weights.unsqueeze(-1) * x[edges[1]])

        for layer in self.layer[:-1]:
            x = self.activation(layer(times, x))
        return self.layer[-1](times, x)


GRAPH_NETS = {"column-net": ColumnNet, "gcn": Gcn, "chebyshev": ChebyshevNet}
