"""What kind of difference it is: a factor, an offset, a shift, another order, one place only. For messages to students.

Nothing is said of answers that are nearly constant: there every kind fits, and a factor would tell the value expected.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

_RELATIVE = 1e-4
_FEWEST = 4
_MOST = 20_000
_ENOUGH = 1000


def kind_of_difference(got: torch.Tensor, wanted: torch.Tensor) -> str:
    """In a few words, what could have become of `wanted` to give `got`, both finite and of one shape; "" if unclear."""
    if not _FEWEST <= got.numel() <= _MOST:
        return ""
    got, wanted = got.double(), wanted.double()
    if _same(got, wanted):  # then a factor of 1 would fit, and every other kind that moves little
        return ""
    for values in (got, wanted):
        few = len(set(values.flatten()[:_ENOUGH].tolist())) < _FEWEST - 1
        if few or float(values.std()) <= _RELATIVE * float(values.abs().max()):
            return ""
    return _stretched(got, wanted) or _moved(got, wanted) or _in_one_place(got, wanted)


def kind_of_shape(got: Sequence[int], wanted: Sequence[int]) -> str:
    """The same for two different shapes."""
    if sorted(got) == sorted(wanted):
        return "the axes have changed places"
    if [n for n in got if n != 1] == [n for n in wanted if n != 1]:
        return "an axis of length 1 is too many" if len(got) > len(wanted) else "an axis of length 1 is missing"
    if len(got) + 1 == len(wanted):
        return "an axis is missing"
    return "an axis is too many" if len(got) == len(wanted) + 1 else ""


def where_not_finite(value: torch.Tensor) -> str:
    """Which part of an answer is NaN or infinite: all of it, or whole rows; "" if neither."""
    bad = ~torch.isfinite(value)
    if bool(bad.all()):
        return "everywhere"
    if value.ndim < 2:
        return ""
    rows = bad.flatten(0, -2)
    whole = int(rows.all(-1).sum())
    if whole and whole == int(rows.any(-1).sum()):
        return f"in {whole} of {len(rows)} rows, and there in the whole row"
    return ""


def _stretched(got: torch.Tensor, wanted: torch.Tensor) -> str:
    """One factor, or one summand, for all values."""
    factor = float((got * wanted).sum() / wanted.square().sum())
    if abs(factor) > _RELATIVE and _same(got, factor * wanted):
        return (
            "the sign is turned everywhere" if abs(factor + 1) < _RELATIVE else f"a factor of {factor:.4g} everywhere"
        )
    offset = float((got - wanted).mean())
    if abs(offset) > _RELATIVE and _same(got - offset, wanted):
        return f"{offset:+.4g} everywhere"
    return ""


def _moved(got: torch.Tensor, wanted: torch.Tensor) -> str:
    """The right values, at other places."""
    for axis, size in enumerate(got.shape):
        if size < 2:
            continue
        if _same(got, wanted.flip(axis)):
            return f"the right values in reverse order along axis {axis}"
        if size > 2:
            for step, word in ((1, "after"), (-1, "before")):
                here, there = (slice(1, None), slice(None, -1)) if step > 0 else (slice(None, -1), slice(1, None))
                if _same(_along(got, axis, here), _along(wanted, axis, there)):
                    return f"the right values one place {word} their own along axis {axis}"
    if got.ndim > 1:
        for first in range(got.ndim):
            for second in range(first + 1, got.ndim):
                turned = wanted.transpose(first, second)
                if got.shape[first] > 1 and turned.shape == got.shape and _same(got, turned):
                    return f"axes {first} and {second} have changed places"
    if _same(got.flatten().sort().values, wanted.flatten().sort().values):
        return "the right values in another order"
    return ""


def _in_one_place(got: torch.Tensor, wanted: torch.Tensor) -> str:
    """Only one index of an axis is right, or only one is wrong."""
    wrong = (got - wanted).abs() > _RELATIVE * wanted.abs() + _RELATIVE * float(wanted.abs().max())
    for axis, size in enumerate(got.shape):
        if size < 3:
            continue
        by_index = wrong.movedim(axis, 0).reshape(size, -1).any(1)
        count = int(by_index.sum())
        if count == 1:
            return f"only index {int(by_index.nonzero()[0])} along axis {axis} is wrong"
        if count == size - 1:
            return f"only index {int((~by_index).nonzero()[0])} along axis {axis} is right"
    return ""


def _along(values: torch.Tensor, axis: int, part: slice) -> torch.Tensor:
    return values[(slice(None),) * axis + (part,)]


def _same(got: torch.Tensor, wanted: torch.Tensor) -> bool:
    largest = float(wanted.abs().max())
    return bool(((got - wanted).abs() <= _RELATIVE * wanted.abs() + 0.1 * _RELATIVE * largest).all())


def first_difference(got: Any, wanted: Any, place: str = "") -> tuple[str, Any, Any] | None:
    """Where plain data first differs, and what is there in both; None where it is the same.

    Lists and tuples are compared entry by entry, dicts by their keys and then entry by entry, anything else by its type
    and value.
    """
    if isinstance(wanted, (list, tuple)):
        if not isinstance(got, (list, tuple)) or len(got) != len(wanted):
            return place, got, list(wanted)
        entries = [(f"{place}[{i}]", one, other) for i, (one, other) in enumerate(zip(got, wanted, strict=True))]
    elif isinstance(wanted, dict):
        if not isinstance(got, dict) or got.keys() != wanted.keys():
            return place, got, wanted
        entries = [(f"{place}[{key!r}]", got[key], wanted[key]) for key in wanted]
    else:
        return None if type(got) is type(wanted) and got == wanted else (place, got, wanted)
    return next((found for at, one, other in entries if (found := first_difference(one, other, at))), None)
