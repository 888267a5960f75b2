"""Answers carry a mark, so that a request which gives one away can be told from a request that does not.

A right answer is an answer, whether a submission or the reference gave it.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

import torch


class Answer(torch.Tensor):
    """A tensor that a submission or the reference returned; torch marks what is computed from it in the same way."""


class Oracle:
    """A reference module: its functions and values, with every tensor marked as an answer."""

    def __init__(self, module: ModuleType) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._module, name)
        if not callable(found):
            return marked(found)
        return lambda *arguments, **keywords: marked(found(*arguments, **keywords))


def marked(value: Any) -> Any:
    """The same value, with its tensors marked as answers."""
    if isinstance(value, torch.Tensor):
        return value.as_subclass(Answer)
    if isinstance(value, dict):
        return {key: marked(entry) for key, entry in value.items()}
    return type(value)(map(marked, value)) if isinstance(value, (list, tuple)) else value


def holds_answer(value: Any) -> bool:
    """Is a tensor in it that is an answer, or was computed from one?"""
    if isinstance(value, dict):
        return any(map(holds_answer, value.values()))
    return isinstance(value, Answer) or (isinstance(value, (list, tuple)) and any(map(holds_answer, value)))
