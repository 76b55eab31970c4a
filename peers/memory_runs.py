"""Configs and inputs of small runs on stories and algorithmic tasks, for `make-run-reference`."""

import numpy

STORY_CASES = {
    "end-to-end-memory-adjacent": 'kind = "end-to-end-memory"\nhops = 2',
    "end-to-end-memory-heads": 'kind = "end-to-end-memory"\nhops = 2\nheads = 2\ntying = "layer-wise"\nencoding = "bag-of-words"',
    "memory-network-plain": 'kind = "memory-network"\nhops = 2',
    "memory-network-tanh": 'kind = "memory-network"\nactivation = "tanh"\ntemporal_encoding = false',
}
PROGRAM_CASES = {
    "turing-machine-lstm": ("copy", 'controller = "lstm"\nread_heads = 2'),
    "turing-machine-feedforward": ("associative-recall", 'controller = "feedforward"\nwrite_heads = 2\nshift_range = 2'),
}
HIDDEN = {"matrix": "[3, 4]", "vector": "[6]"}


def tales(count: int) -> str:
    """Who went where, and where somebody is, in numbered lines; with the answer and the line that tells it."""
    numbers = numpy.random.Generator(numpy.random.PCG64(8))
    lines = []
    for _ in range(count):
        went = {}
        for line in range(1, 9):
            if line % 4:
                who, where = numbers.choice(["Ann", "Ben", "Eve"]), numbers.choice(["garden", "office", "hall"])
                went[who] = (where, line)
                lines.append(f"{line} {who} went to the {where}.")
            else:
                who = numbers.choice(sorted(went))
                lines.append(f"{line} Where is {who}?\t{went[who][0]}\t{went[who][1]}")
    return "\n".join(lines) + "\n"


def story_config(case: str) -> str:
    return f"""
[data]
source = "tales.txt"
split.valid = 0.2
[model]
embedding_dim = 6
memory_size = 5
{STORY_CASES[case]}
[train]
epochs = 3
batch_size = 16
learning_rate = 0.01
"""


def program_config(case: str, form: str) -> str:
    source, model = PROGRAM_CASES[case]
    return f"""
[data]
source = "{source}"
width = 3
length = [2, 4]
sequences_per_epoch = 320
valid_sequences = 20
test_sequences = 20
[model]
kind = "turing-machine"
form = "{form}"
hidden = {HIDDEN[form]}
slots = 7
slot_width = 5
{model}
[train]
epochs = 2
learning_rate = 0.01
"""


def sequences(case: str) -> numpy.ndarray:
    """Any bits on any channel."""
    channels = {"copy": 4, "associative-recall": 5}[PROGRAM_CASES[case][0]]
    numbers = numpy.random.Generator(numpy.random.PCG64(9))
    return numbers.integers(0, 2, (4, 9, channels)).astype(numpy.float32)
