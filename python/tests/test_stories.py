"""Memory nets on stories that are Python objects."""

import subprocess
import sys

import numpy as np
import pytest

import matnet
from matnet import Question, Story

rng = np.random.default_rng(0)
NAMES, PLACES = ["Ann", "Bob", "Eve"], ["home", "garden", "office"]


def stories(count):
    made = []
    for _ in range(count):
        who, where = rng.permutation(NAMES)[:2], rng.choice(PLACES, 3)
        sentences = [f"{who[0]} went to the {where[0]}.", f"{who[1]} went to the {where[1]}."]
        first = Question(f"Where is {who[0]}?", str(where[0]), after=1, facts=[0])
        sentences.append(f"{who[0]} went to the {where[2]}.")
        made.append(Story(sentences, [first, Question(f"Where is {who[0]}?", str(where[2]), facts=[2])]))
    return made


STORIES = stories(30)
MODELS = {
    "end-to-end-memory": {"kind": "end-to-end-memory", "embedding_dim": 6, "hops": 2},
    "memory-network": {"kind": "memory-network", "embedding_dim": 6},
}


def config(kind, **data):
    return {"data": data, "model": MODELS[kind], "train": {"epochs": 2, "seed": 3}}


def numbered(all_of_them):
    """The text of stories, as bAbI has them."""
    lines = []
    for story in all_of_them:
        asked, number, places = list(story.questions), 0, []
        for at in range(len(story.sentences) + 1):
            for question in [one for one in asked if (len(story.sentences) if one.after is None else one.after) == at]:
                number += 1
                facts = " ".join(str(places[fact]) for fact in question.facts)
                lines.append(f"{number} {question.text}\t{question.answer}\t{facts}")
            if at < len(story.sentences):
                number += 1
                places.append(number)
                lines.append(f"{number} {story.sentences[at]}")
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("kind", MODELS)
def test_the_same_bytes_as_the_command(kind, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run = matnet.train(config(kind, source="told.txt"), data=STORIES, out="python", report=False)
    (tmp_path / "told.txt").write_text(numbered(STORIES))
    model = "\n".join(f"{key} = {value!r}".replace("'", '"') for key, value in MODELS[kind].items())
    text = f'[data]\nsource = "told.txt"\n[model]\n{model}\n[train]\nepochs = 2\nseed = 3\n'
    (tmp_path / "config.toml").write_text(text)
    command = [sys.executable, "-m", "matnet", "train", "config.toml", "--out", "command", "--quiet"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    for file in ("config.toml", "best.safetensors", "metrics.csv", "split.json", "result.json"):
        assert (tmp_path / "python" / file).read_bytes() == (tmp_path / "command" / file).read_bytes(), file
    # Questions without answers, from objects and from the file.
    given = run.predict(STORIES)
    assert given.shape == (60, len(run.classes)) and {"ann", "garden"} <= set(run.classes)
    assert np.array_equal(given, matnet.load_run("command").predict("told.txt"))
    assert np.allclose(given.sum(1), 1, atol=1e-5)


def test_forms_of_stories():
    plain = [
        {"sentences": list(story.sentences), "questions": [vars(question) for question in story.questions]}
        for story in STORIES
    ]
    # Each question by itself, with the sentences before it.
    single = [
        (story.sentences[: question.after], question.text, question.answer, question.facts)
        for story in STORIES
        for question in story.questions
    ]
    run = matnet.train(config("memory-network"), data=STORIES, report=False)
    again = matnet.train(config("memory-network"), data=plain, report=False)
    assert (run.folder / "best.safetensors").read_bytes() == (again.folder / "best.safetensors").read_bytes()
    assert np.array_equal(run.predict(single), run.predict(plain))
    unanswered = [(told, asked) for told, asked, _, _ in single]
    assert np.array_equal(run.predict(unanswered), run.predict(STORIES))
    alone = matnet.train(config("memory-network"), data=single, report=False)
    assert alone.result["epochs"] == 2


def test_tasks_and_test_stories():
    test = stories(10)
    run = matnet.train(config("end-to-end-memory"), data=STORIES, test=test, report=False)
    assert run.result["test"]["examples"] == 20
    two = {1: STORIES[:15], 4: STORIES[15:]}
    run = matnet.train(config("end-to-end-memory"), data=two, test={1: test[:5], 4: test[5:]}, report=False)
    assert run.result["test"]["examples"] == 20
    run = matnet.train(config("end-to-end-memory", tasks=[4]), data=two, test={1: test[:5], 4: test[5:]}, report=False)
    assert run.result["test"]["examples"] == 10


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ([], "data: no question"),
        ("told.txt", "data: str; a list of stories expected"),
        (3, "data: int"),
        ([3], r"data\[0\]: int; a Story"),
        ([{"sentence": []}], r"data\[0\]: keys \['sentence'\]"),
        ([{"sentences": "Ann went home.", "questions": []}], "sentences: str; a list of strings"),
        ([(["Ann went home."], "Where is Ann?", 7)], "answer: 7; a string expected"),
        ([(["Ann went home."], "Where is Ann?", "home", [1])], "facts: 1; the question comes after 1 sentence,"),
        ([(["Ann went home."], "Where is Ann?", "home", [-1])], "facts: -1; a number from 0"),
        ([(["Ann went home."], "Where is Ann?", "home", "0")], "facts: '0'"),
        ([Story(["Ann went home."], [Question("Where is Ann?", "home", after=2)])], "after: 2; the story has 1"),
        ([Story(["Ann went home."], ["Where is Ann?"])], "question 0: str; a Question"),
        ([Story(["Ann went home."], [{"text": "Where?", "say": "home"}])], "key 'say'"),
        ([Story(["Ann went home."], [{"answer": "home"}])], "no text"),
        ({"one": STORIES}, "data: task 'one'"),
        ({}, "data: no task"),
        ([(["Ann went home."], "Where is Ann?")] * 10, "has no answer to learn"),
        (np.zeros((3, 4)), "ndarray; a Story"),
    ],
)
def test_wrong_stories(data, message):
    with pytest.raises(ValueError, match=message):
        matnet.train(config("end-to-end-memory"), data=data, report=False)


def test_wrong_arguments():
    with pytest.raises(ValueError, match="^valid: drawn from data"):
        matnet.train(config("end-to-end-memory"), data=STORIES, valid=STORIES)
    with pytest.raises(ValueError, match="^data: stories to train on"):
        matnet.train(config("end-to-end-memory"), test=STORIES)
    with pytest.raises(ValueError, match="^test: stories as in data"):
        matnet.train(config("end-to-end-memory"), data=STORIES, test={1: STORIES})
    with pytest.raises(ValueError, match="^test: task 2"):
        matnet.train(config("end-to-end-memory"), data={1: STORIES}, test={2: STORIES})
    with pytest.raises(ValueError, match="generates its own data"):
        matnet.train({"model": {"kind": "turing-machine"}}, data=np.zeros((3, 4)))
    with pytest.raises(ValueError, match="does not say which sentences support"):
        bare = [(story.sentences, "Where is Ann?", "home") for story in STORIES]
        matnet.train(config("memory-network"), data=bare, report=False)
    run = matnet.train(config("end-to-end-memory"), data=STORIES, report=False)
    with pytest.raises(ValueError, match="`zoe` is not among"):
        run.predict([(["Zoe went home."], "Where is Ann?")])
    with pytest.raises(ValueError, match=r"^data\[0\]: ndarray"):
        run.predict(np.zeros((3, 4)))
