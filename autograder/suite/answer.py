"""Answers carry a mark, so that a request which repeats one can be told from a request that does not."""

from __future__ import annotations

from typing import Any

import torch


class Answer(torch.Tensor):
    """A tensor that a submission returned; torch hands the mark on to everything that is computed from it."""


def marked(value: Any) -> Any:
    """The same value, with its tensors marked as answers."""
    if isinstance(value, torch.Tensor):
        return value.as_subclass(Answer)
    if isinstance(value, dict):
        return {key: marked(entry) for key, entry in value.items()}
    return type(value)(map(marked, value)) if isinstance(value, (list, tuple)) else value


def holds_answer(value: Any) -> bool:
    """Is a tensor in it that came from a submission, or was computed from one that did?"""
    if isinstance(value, dict):
        return any(map(holds_answer, value.values()))
    return isinstance(value, Answer) or (isinstance(value, (list, tuple)) and any(map(holds_answer, value)))
