"""Stories with questions, for memory nets: Python objects in the place of a file of text."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from matnet._arrays import counted

if TYPE_CHECKING:
    from matnet._native import PyStory, PyTask

__all__ = ["Question", "Story"]


@dataclass(frozen=True)
class Question:
    """A question about a story.

    Parameters
    ----------
    text : str
        The question.
    answer : str
        Its answer, a word; empty where it is unknown, as in `Run.predict`.
    after : int, optional
        How many sentences of the story come before it. By default all.
    facts : sequence of int
        The sentences that support the answer, counted from 0. A ``memory-network`` learns from them.

    Examples
    --------
    >>> import matnet
    >>> matnet.Question("Where is Ann?", "home", after=1, facts=[0]).answer
    'home'
    """

    text: str
    answer: str = ""
    after: int | None = None
    facts: Sequence[int] = ()


@dataclass(frozen=True)
class Story:
    """Sentences, and the questions asked between and after them.

    Parameters
    ----------
    sentences : sequence of str
        The sentences in order.
    questions : sequence of Question
        The questions in order.

    Examples
    --------
    >>> import matnet
    >>> story = matnet.Story(
    ...     ["Ann went home.", "Bob slept."],
    ...     [matnet.Question("Where is Ann?", "home", facts=[0])],
    ... )
    >>> len(story.questions)
    1
    """

    sentences: Sequence[str]
    questions: Sequence[Question] = field(default_factory=list)


def tasks_of(data: Any, test: Any, source: str) -> list[PyTask]:
    """Stories as the extension takes them: a list is one task, a mapping has tasks by their numbers.

    A task has the name that a file of the name `source` would give it.
    """
    if test is not None and isinstance(data, Mapping) != isinstance(test, Mapping):
        raise ValueError("test: stories as in data expected: a list, or a mapping with the same tasks")
    if not isinstance(data, Mapping):
        name = os.path.splitext(os.path.basename(source))[0]
        return [(1, name, stories_of(data, "data"), stories_of(test, "test") if test is not None else [])]
    tests: Mapping[Any, Any] = test if test is not None else {}
    if unknown := [number for number in tests if number not in data]:
        raise ValueError(f"test: task {unknown[0]!r} is not one of data")
    tasks = []
    for number, stories in data.items():
        if isinstance(number, bool) or not isinstance(number, int) or number < 0:
            raise ValueError(f"data: task {number!r}; tasks by their numbers, or a list of stories, expected")
        known = stories_of(stories, f"data[{number}]")
        asked = stories_of(tests[number], f"test[{number}]") if number in tests else []
        tasks.append((number, f"task {number}", known, asked))
    if not tasks:
        raise ValueError("data: no task; at least one expected")
    return sorted(tasks)


def stories_of(given: Any, name: str) -> list[PyStory]:
    """Turn stories into tuples; a tuple ``(sentences, question, answer, facts)`` is a story with one question."""
    if isinstance(given, (str, bytes, Mapping)) or not isinstance(given, Iterable):
        raise ValueError(f"{name}: {type(given).__name__}; a list of stories expected")
    stories = [_story(item, f"{name}[{at}]") for at, item in enumerate(given)]
    if not any(questions for _, questions in stories):
        raise ValueError(f"{name}: no question; stories with questions expected")
    return stories


def _story(item: Any, name: str) -> PyStory:
    questions: Any
    if isinstance(item, Story):
        sentences, questions = item.sentences, item.questions
    elif isinstance(item, Mapping):
        unknown = set(item) - {"sentences", "questions"}
        if unknown or "sentences" not in item:
            raise ValueError(f"{name}: keys {sorted(map(str, item))}; sentences and questions expected")
        sentences, questions = item["sentences"], item.get("questions", [])
    elif isinstance(item, (tuple, list)) and 2 <= len(item) <= 4:
        # The question stands after all sentences.
        answer: Any = item[2] if len(item) > 2 else ""
        facts: Any = item[3] if len(item) > 3 else ()
        sentences, questions = item[0], [Question(item[1], answer, None, facts)]
    else:
        raise ValueError(
            f"{name}: {type(item).__name__}; a Story, a dict with sentences and questions, "
            "or (sentences, question, answer, facts) expected"
        )
    told = _texts(sentences, f"{name}, sentences")
    if isinstance(questions, (str, bytes, Mapping)) or not isinstance(questions, Iterable):
        raise ValueError(f"{name}, questions: {type(questions).__name__}; a list of questions expected")
    return told, [_question(one, len(told), f"{name}, question {at}") for at, one in enumerate(questions)]


def _question(item: Any, told: int, name: str) -> tuple[str, str, int, list[int]]:
    if isinstance(item, Mapping):
        if unknown := set(item) - {"text", "answer", "after", "facts"}:
            raise ValueError(f"{name}: key {sorted(map(str, unknown))[0]!r}; text, answer, after and facts expected")
        if "text" not in item:
            raise ValueError(f"{name}: no text")
        item = Question(**item)
    if not isinstance(item, Question):
        raise ValueError(f"{name}: {type(item).__name__}; a Question, or a dict with text and answer, expected")
    text, answer = _text(item.text, f"{name}, text"), _text(item.answer, f"{name}, answer")
    after = told if item.after is None else _count(item.after, f"{name}, after")
    if isinstance(item.facts, (str, bytes)) or not isinstance(item.facts, Iterable):
        raise ValueError(f"{name}, facts: {item.facts!r}; numbers of sentences expected")
    facts = [_count(fact, f"{name}, facts") for fact in item.facts]
    if after > told:
        raise ValueError(f"{name}, after: {after}; the story has {counted(told, 'sentence')}")
    if late := [fact for fact in facts if fact >= after]:
        before = counted(after, "sentence")
        raise ValueError(f"{name}, facts: {late[0]}; the question comes after {before}, which count from 0")
    return text, answer, after, facts


def _texts(value: Any, name: str) -> list[str]:
    if isinstance(value, (str, bytes)) or not isinstance(value, Iterable):
        raise ValueError(f"{name}: {type(value).__name__}; a list of strings expected")
    return [_text(one, f"{name}[{at}]") for at, one in enumerate(value)]


def _text(value: Any, name: str) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{name}: {value!r}; a string expected")
    return str(value)


def _count(value: Any, name: str) -> int:
    try:
        count = value.__index__()
    except AttributeError:
        count = -1
    if isinstance(value, bool) or not 0 <= count < 2**62:
        raise ValueError(f"{name}: {value!r}; a number from 0 expected")
    return int(count)
