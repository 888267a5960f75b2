"""Several errors of one part of a model at once, each at its own place, and pydantic's errors in plain words."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel
from pydantic_core import InitErrorDetails, PydanticCustomError, ValidationError

from autograder.course.errors import CourseError, place
from autograder.course.points import shown

Model = TypeVar("Model", bound=BaseModel)
Problem = tuple[tuple[str | int, ...], str]  # the keys that lead to a value, and what is wrong with it

_SENTENCES = {
    "missing": "missing",
    "extra_forbidden": "not a field of this file; check the spelling",
    "greater_than": "must be positive",
    "greater_than_equal": "must not be negative",
    "finite_number": "must be a finite number",
}
_WANTED = (  # by the beginning of pydantic's own name for the error
    ("string", "text"),
    ("int", "a whole number"),
    ("float", "a number"),
    ("bool", "true or false"),
    ("tuple", "a list"),
    ("model", "a mapping"),
    ("dict", "a mapping"),
)


def model_in(path: Path, kind: type[Model], data: object) -> Model:
    """The data of a file as this model. Raises CourseError with every error found."""
    try:
        return kind.model_validate(data)
    except ValidationError as error:
        problems = [f"{place(e['loc'])}: {sentence_of(e)}" for e in error.errors(include_url=False)]
        raise CourseError.in_file(path, problems) from None


def checked(model: Model, problems: Sequence[Problem]) -> Model:
    """The model itself, or all problems at once, each at its own place."""
    refuse(type(model).__name__, problems)
    return model


def refuse(title: str, problems: Sequence[Problem]) -> None:
    """Raise all problems of a validation at once, if there are any."""
    if problems:
        details = [
            InitErrorDetails(
                type=PydanticCustomError("course", "{sentence}", {"sentence": sentence}), loc=where, input=None
            )
            for where, sentence in problems
        ]
        raise ValidationError.from_exception_data(title, details)


def sentence_of(error: Any) -> str:
    """One of pydantic's errors (a dict of `ValidationError.errors()`) as a sentence about the value."""
    context = error.get("ctx", {})
    kind: str = error["type"]
    if kind == "value_error":
        return str(context["error"])
    if kind == "course":
        return str(context["sentence"])
    if kind == "less_than_equal":
        return f"must be at most {context['le']}"
    if kind in _SENTENCES:
        return _SENTENCES[kind]
    wanted = next((words for start, words in _WANTED if kind.startswith(start)), None)
    return f"must be {wanted}, got {shown(error['input'])}" if wanted else str(error["msg"])
