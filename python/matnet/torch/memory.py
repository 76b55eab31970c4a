"""The memory nets in PyTorch, story by story, with the parameters' names of matnet.

Stories are padded arrays of word numbers from 1; 0 is padding.
"""

from typing import Any

import torch
from torch import Tensor, nn


class Embedding(nn.Module):
    def __init__(self, config: dict[str, Any], timed: bool):
        super().__init__()
        self.word_map = nn.Parameter(torch.empty(config["vocab_size"], config["embedding_dim"]))
        if timed and config.get("temporal_encoding", True):
            self.time_map = nn.Parameter(torch.empty(config["memory_size"], config["embedding_dim"]))
        self.config = config

    def encode(self, words: Tensor) -> Tensor:
        """The words of one sentence as one vector."""
        words = words[words > 0]
        rows = self.word_map[words - 1]
        if self.config.get("encoding", "position") == "position":
            width, most = self.config["embedding_dim"], self.config["sentence_length"]
            k = (torch.arange(1, width + 1, dtype=rows.dtype) - (width + 1) / 2) / width
            j = (torch.arange(1, len(words) + 1, dtype=rows.dtype) - (most + 1) / 2) / most
            rows = rows * (1 + 4 * j[:, None] * k[None, :])
        return rows.sum(0)

    def memory(self, story: Tensor) -> Tensor:
        """A row for each sentence of a story, without the padding at its end."""
        there = (story > 0).any(1).nonzero()
        count = int(there.max()) + 1 if len(there) else 0
        kept = story[max(0, count - self.config["memory_size"]) : count]
        rows = [self.encode(sentence) for sentence in kept]
        if hasattr(self, "time_map"):
            rows = [row + self.time_map[len(rows) - 1 - at] for at, row in enumerate(rows)]
        return torch.stack(rows) if rows else self.word_map.new_zeros(0, self.config["embedding_dim"])


class EndToEnd(nn.Module):
    def __init__(self, config: dict[str, Any], softmax: bool = True):
        super().__init__()
        self.config, self.softmax = config, softmax
        width, heads = config["embedding_dim"], config.get("heads", 1)
        self.layer_wise = config.get("tying", "adjacent") == "layer-wise"
        tables = 2 if self.layer_wise else config["hops"] + 1
        self.embedding = nn.ModuleList(Embedding(config, True) for _ in range(tables))
        if self.layer_wise:
            self.question = Embedding(config, False)
            self.col_map = nn.Parameter(torch.empty(width, width))
            self.answer_map = nn.Parameter(torch.empty(width, config["vocab_size"]))
        if heads > 1:
            self.heads = nn.Module()
            self.heads.query_map = nn.Parameter(torch.empty(width, heads * width))
            shared = 1 if self.layer_wise else config["hops"]
            self.heads.row_map = nn.ParameterList(torch.empty(heads, heads) for _ in range(shared))
            self.heads.answer_row_map = nn.Parameter(torch.empty(heads, 1))

    def forward(self, stories: Tensor, questions: Tensor) -> Tensor:
        return torch.stack([self.one(story, question) for story, question in zip(stories, questions)])

    def one(self, story: Tensor, question: Tensor) -> Tensor:
        config, several = self.config, hasattr(self, "heads")
        embedding = self.question if self.layer_wise else self.embedding[0]
        state = embedding.encode(question)[None]
        if several:
            state = (state @ self.heads.query_map).reshape(config["heads"], config["embedding_dim"])
        for hop in range(config["hops"]):
            keys, values = (0, 1) if self.layer_wise else (hop, hop + 1)
            memory, values = (
                self.embedding[keys].memory(story),
                self.embedding[values].memory(story),
            )
            if config.get("empty_slots", True):
                unused = config["memory_size"] - len(memory)
                memory = torch.cat([memory, memory.new_zeros(unused, config["embedding_dim"])])
                values = torch.cat([values, values.new_zeros(unused, config["embedding_dim"])])
            weights = state @ memory.T
            if self.softmax:
                weights = weights.softmax(1)
            carried = state
            if several:
                row_map = self.heads.row_map[0 if self.layer_wise else hop]
                carried = row_map.T @ carried
            if self.layer_wise:
                carried = carried @ self.col_map
            state = carried + weights @ values
        answer = (self.heads.answer_row_map.T @ state if several else state)[0]
        return answer @ (self.answer_map if self.layer_wise else self.embedding[-1].word_map.T)


class MemoryNetwork(nn.Module):
    def __init__(self, config: dict[str, Any]):
        super().__init__()
        self.config = config
        width = config["embedding_dim"]
        self.question, self.sentence = Embedding(config, False), Embedding(config, True)
        self.found = Embedding(config, True)
        self.nothing_map = nn.Parameter(torch.empty(1, width))
        self.answer_question, self.answer_found = Embedding(config, False), Embedding(config, True)
        self.answer_map = nn.Parameter(torch.empty(width, config["vocab_size"]))

    def choice(self, scores: Tensor, right: int) -> Tensor:
        margin = self.config.get("margin")
        if margin is None:
            return -scores.log_softmax(0)[right]
        wrong = torch.arange(len(scores)) != right
        return (margin - scores[right] + scores[wrong]).clamp(min=0).sum()

    def forward(self, stories: Tensor, questions: Tensor) -> Tensor:
        return torch.stack([self.answer(story, question) for story, question in zip(stories, questions)])

    def answer(self, story: Tensor, question: Tensor) -> Tensor:
        """The scores of all words, from the sentences that fit best, until nothing fits better than nothing."""
        asked, replied = self.question.encode(question), self.answer_question.encode(question)
        memory = torch.cat([self.sentence.memory(story), self.nothing_map])
        for _ in range(self.config["hops"]):
            fact = int((memory @ asked).argmax())
            if fact == len(memory) - 1:
                break
            asked = asked + self.found.memory(story)[fact]
            replied = replied + self.answer_found.memory(story)[fact]
        return self.response(replied)

    def response(self, replied: Tensor) -> Tensor:
        if self.config.get("activation", "identity") == "tanh":
            replied = replied.tanh()
        return replied @ self.answer_map

    def loss(self, stories: Tensor, questions: Tensor, facts: list[list[int]], answers: list[int]) -> Tensor:
        each = [self.one(*given) for given in zip(stories, questions, facts, answers)]
        return sum(each) / len(each)

    def one(self, story: Tensor, question: Tensor, facts: list[int], answer: int) -> Tensor:
        asked, replied = self.question.encode(question), self.answer_question.encode(question)
        memory = torch.cat([self.sentence.memory(story), self.nothing_map])
        total = 0.0
        for hop in range(self.config["hops"]):
            if hop > len(facts):
                break
            right = facts[hop] if hop < len(facts) else len(memory) - 1
            total = total + self.choice(memory @ asked, right)
            if hop < len(facts):
                asked = asked + self.found.memory(story)[facts[hop]]
                replied = replied + self.answer_found.memory(story)[facts[hop]]
        return total + self.choice(self.response(replied), answer)
