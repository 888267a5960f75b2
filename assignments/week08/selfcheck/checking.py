"""What a check says about an answer: compare it, demand something of it, differentiate through it.

Every helper validates the answer before it computes with it (type, then dtype, then shape, then finiteness, then
values), so that a check never crashes on what a student returns and nothing broadcasts before it is compared.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from selfcheck.values import Foreign
from selfcheck.differences import first_difference, kind_of_difference, kind_of_shape, where_not_finite
from selfcheck.faults import KitFault, Mismatch, NotAttempted, PartialCredit, Raised, Refused

TOLERANCES = {
    torch.float64: (1e-9, 1e-9),
    torch.float32: (1e-4, 1e-5),
    torch.bfloat16: (2e-2, 1e-2),
    torch.float16: (2e-3, 1e-3),
}
"""Relative and absolute tolerance by dtype."""


MOST_NUMBERS = 12
"""A text with more numbers than this names none of them."""

_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")

EXPECTING_AN_ERROR = ContextVar("EXPECTING_AN_ERROR", default=False)
"""Set inside a `rejects` block: calls are then sent at once, so that their error is raised there."""


SHARES: ContextVar[list[float] | None] = ContextVar("SHARES", default=None)
"""Where set: the share of its tolerance that the difference took, for each comparison; above 1 it failed."""
MOST_SHARE = 1e9
"""A larger share is noted as this."""


@dataclass(frozen=True)
class Gradients:
    """Gradients of sum(output * along): one entry per argument, and one per parameter name for a module."""

    arguments: list[torch.Tensor | None]
    parameters: dict[str, torch.Tensor | None]


def agree(
    got: Any,
    expected: Any,
    *,
    dtype: torch.dtype = torch.float32,
    rtol: float | None = None,
    atol: float | None = None,
) -> None:
    """Fail unless `got` equals `expected` within tolerance.

    `expected` is a tensor, a number or a nested list of numbers. Where it is a number, a Python number or a 0-d tensor
    is accepted. Where it is floating, `got` must have `dtype`; integers and booleans must match exactly.

    Raises:
        Mismatch: the answer has another type, dtype or shape, is not finite, or differs.
        KitFault: the expected value itself is not finite, so nothing could be compared with it.
    """
    if isinstance(expected, (int, float)) and not isinstance(expected, bool):
        _agree_number(got, float(expected), 1e-5 if rtol is None else rtol, 1e-8 if atol is None else atol)
        return
    wanted = expected if isinstance(expected, torch.Tensor) else torch.tensor(expected, dtype=_list_dtype(expected))
    wanted = wanted.detach().as_subclass(torch.Tensor)
    if not wanted.is_floating_point():
        equal(got, wanted)
        return
    if not bool(torch.isfinite(wanted).all()):
        raise KitFault("the reference is not finite here, so no answer can be compared with it")
    answer = tensor(got, tuple(wanted.shape), dtype).as_subclass(torch.Tensor)
    relative, absolute = TOLERANCES[dtype]
    limit = (absolute if atol is None else atol) + (relative if rtol is None else rtol) * wanted.double().abs()
    difference = (answer.double() - wanted.double()).abs()
    _note_share(lambda: _largest_share(difference, limit))
    if bool((difference > limit).any()):
        said = _difference(difference, difference > limit) + _after(": ", kind_of_difference(answer, wanted))
        raise Mismatch(said, _both(answer, wanted))


def equal(got: Any, expected: torch.Tensor) -> None:
    """Fail unless `got` is exactly `expected`: same dtype, same shape, same values."""
    answer = tensor(got, tuple(expected.shape), expected.dtype)
    different = answer != expected
    if bool(different.any()):
        gap = (answer.double() - expected.double()).abs()
        raise Mismatch(_difference(gap, different), _both(answer, expected))


def same(got: Any, expected: Any) -> None:
    """Fail unless `got` is this plain data, exactly: texts, whole numbers, lists, tuples and dicts of them.

    A list and a tuple of the same entries are the same. Numbers with a fraction belong into `agree`.
    """
    found = first_difference(got, expected)
    if found is not None:
        place, here, wanted = found
        where = f", first at {place}" if place else ""
        what = "the answer differs" if kind(here) == kind(wanted) else f"expected {kind(wanted)}, got {kind(here)}"
        raise Mismatch(f"{what}{where}", f"returned {show(got)}\nexpected {show(expected)}")


def tensor(value: Any, shape: Sequence[int] | None = None, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    """The answer, checked to be a finite `torch.Tensor` of this shape and dtype. Use it before any arithmetic."""
    if not isinstance(value, torch.Tensor):
        raise Mismatch(f"expected a torch.Tensor, got {kind(value)}")
    if value.dtype != dtype:
        raise Mismatch(f"expected dtype {_short(dtype)}, got {_short(value.dtype)}")
    if shape is not None and tuple(value.shape) != tuple(shape):
        got = list(value.shape)
        odd = len(got) > 6 or max(got, default=0) > 9999
        found = "one far off" if odd else f"{got}{_after(': ', kind_of_shape(got, shape))}"
        raise Mismatch(f"expected shape {list(shape)}, got {found}")
    plain = value.detach()
    if plain.is_floating_point() and not math.isfinite(plain.sum()) and not bool(torch.isfinite(plain).all()):
        bad = "NaN" if bool(torch.isnan(value).any()) else "infinity"
        place = (~torch.isfinite(value)).nonzero()[0].tolist()
        raise Mismatch(
            f"the answer holds {bad} (first at {place}{_after(', ', where_not_finite(value))})",
            f"returned {show(value)}",
        )
    return value


def parts(value: Any, count: int) -> tuple[Any, ...]:
    """The answer, checked to be a tuple (or list) of `count` things."""
    if not isinstance(value, (tuple, list)) or len(value) != count:
        raise Mismatch(f"expected a tuple of {count} values, got {kind(value)}")
    return tuple(value)


def number(value: Any) -> float:
    """The answer, checked to be one finite number: int, float or 0-d tensor."""
    if isinstance(value, torch.Tensor) and value.ndim == 0 and not value.is_complex():
        value = value.item()
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise Mismatch(f"expected a number, got {kind(value)}")
    if not math.isfinite(value):
        raise Mismatch(f"expected a finite number, got {value}")
    return float(value)


def numbers(value: Any, count: int | None = None) -> torch.Tensor:
    """The answer, checked to be a list of (`count`) Python floats, as a float64 tensor."""
    if not isinstance(value, list) or (count is not None and len(value) != count):
        raise Mismatch(f"expected a list of {'' if count is None else f'{count} '}floats, got {kind(value)}")
    for entry in value:
        if not isinstance(entry, float) or not math.isfinite(entry):
            raise Mismatch(f"expected a list of finite floats, found {kind(entry)} in it")
    return torch.tensor(value, dtype=torch.float64)


def expect(truth: bool, sentence: str) -> None:
    """Fail with `sentence` unless `truth`. The student reads the sentence also when the check is hidden."""
    if not truth:
        raise Mismatch(sentence)


@contextmanager
def rejects(*named: float) -> Iterator[None]:
    """The block must raise a ValueError whose text names all of `named`."""
    token = EXPECTING_AN_ERROR.set(True)
    try:
        yield
    except NotAttempted:
        raise
    except Raised as fault:
        if fault.earlier:
            raise
        if "ValueError" not in fault.names:
            name = fault.names[0] if fault.names else "another error"
            raise Mismatch(f"expected a ValueError, got {name}", fault.detail) from None
        missing = [n for n in named if not _mentions(fault.text, n) or len(_NUMBER.findall(fault.text)) > MOST_NUMBERS]
        if missing:
            wanted = " and ".join(str(n) for n in named)
            detail = f"its text should name {wanted}; it reads: {fault.text}"
            raise Mismatch("the ValueError's text does not name the numbers that clash", detail) from None
        return
    finally:
        EXPECTING_AN_ERROR.reset(token)
    wanted = f"; its text should name {' and '.join(str(n) for n in named)}" if named else ""
    raise Mismatch("no error was raised where a ValueError is due", f"expected a ValueError{wanted}")


def has_state(module: Any, shapes: Mapping[str, Sequence[int]]) -> None:
    """Fail unless the module's state dict has exactly these names with these shapes."""
    state = module.state_dict()
    if not isinstance(state, dict):
        raise Mismatch(f"state_dict() should return a dict, got {kind(state)}")
    missing, extra = sorted(set(shapes) - set(state)), sorted(set(state) - set(shapes))
    if missing or extra:
        said = [f"missing: {', '.join(missing)}"] if missing else []
        said += [f"not expected: {', '.join(extra)}"] if extra else []
        raise Mismatch(f"the module's parameter names differ ({'; '.join(said)})")
    for name, shape in shapes.items():
        entry = state[name]
        found = list(entry.shape) if isinstance(entry, torch.Tensor) else kind(entry)
        if found != list(shape):
            raise Mismatch(f"`{name}` should have shape {list(shape)}, has {found}")


def gradients(function: Any, *arguments: Any, along: Any) -> Gradients:
    """Gradients of sum(output * along) through a student's function or module.

    `along` has the output's shape, or is a tuple (entries may be None) where the output is one.
    """
    found: Gradients = function.gradients(*arguments, along=along)
    return found


def leaves_unchanged(function: Any, *arguments: Any, **keywords: Any) -> None:
    """Call the function; fail when it modified an argument in place, or returned no tensor at all."""
    answer, after = function.arguments_after(*arguments, **keywords)
    if not any(isinstance(part, torch.Tensor) for part in (answer if isinstance(answer, tuple) else (answer,))):
        raise Mismatch(f"expected a torch.Tensor, got {kind(answer)}")
    for place, (before, now) in enumerate(zip(arguments, after, strict=True), start=1):
        if isinstance(before, torch.Tensor) and not _same_bits(before, now):
            raise Mismatch(f"argument {place} was modified in place; work on a copy")


def partial_credit(share: float, sentence: str) -> None:
    """End the check with this share (0 to 1) of its points."""
    raise PartialCredit(share, sentence)


def kind(value: Any) -> str:
    """What an answer is, in a few words: `None`, `list`, `tensor [2, 3]`, `numpy.ndarray`."""
    if value is None:
        return "None (is a return missing?)"
    if isinstance(value, Foreign):
        return value.type_name
    if isinstance(value, torch.Tensor):
        return f"a tensor of shape {list(value.shape)}"
    if isinstance(value, (tuple, list)):
        return f"a {type(value).__name__} of {len(value)}"
    return type(value).__name__


def show(value: Any, limit: int = 12) -> str:
    """A short picture of a value: small tensors whole, larger ones by shape and first entries."""
    if isinstance(value, torch.Tensor):
        if value.numel() <= limit:
            return _digits(value.tolist())
        first = _digits(value.flatten()[: limit // 2].tolist())[:-1]
        return f"{first}, ...] (shape {list(value.shape)})"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{k}: {show(v, 4)}" for k, v in list(value.items())[:4]) + "}"
    text = _digits(value) if isinstance(value, (float, list, tuple)) else repr(value)
    return text if len(text) <= 200 else text[:200] + "..."


def _agree_number(got: Any, wanted: float, rtol: float, atol: float) -> None:
    if not math.isfinite(wanted):
        raise KitFault("the reference is not finite here, so no answer can be compared with it")
    answer = number(got)
    gap, limit = abs(answer - wanted), atol + rtol * abs(wanted)
    _note_share(lambda: min(gap / limit, MOST_SHARE) if gap else 0.0)
    if gap > limit:
        raise Mismatch(f"the number is off by {gap:.3g}", f"returned {answer:.8g}\nexpected {wanted:.8g}")


def _largest_share(difference: torch.Tensor, limit: torch.Tensor) -> float:
    share = float(torch.where(difference == 0, 0.0, difference / limit).max()) if difference.numel() else 0.0
    return share if share < MOST_SHARE else MOST_SHARE


def _note_share(share: Callable[[], float]) -> None:
    if (shares := SHARES.get()) is not None:
        shares.append(share())


def _difference(gap: torch.Tensor, different: torch.Tensor) -> str:
    """How many values differ, by how much at most and where."""
    place = place_of_largest(torch.where(different, gap, -1.0))
    count, total = int(different.sum()), different.numel()
    where = f" at {place}" if place else ""
    return f"{count} of {total} values differ; the largest difference is {float(gap[tuple(place)]):.3g}{where}"


def computes_without(function: Any, operators: Sequence[str], *arguments: Any) -> None:
    """Refuse the function when one of these operators of torch runs in the call, by whatever name it was called.

    Attested: only the student's process can say what ran in it.
    """
    used = function.operators(*arguments)
    for name in operators:
        if name in used:
            raise Refused(f"torch's operator {name} ran in this call, which this exercise forbids")


def place_of_largest(values: torch.Tensor) -> list[int]:
    """Indices of the largest value, by axis. (torch.unravel_index imports sympy when it is first called.)"""
    return [int(i) for i in np.unravel_index(int(values.argmax()), values.shape)]


def _after(mark: str, words: str) -> str:
    return f"{mark}{words}" if words else ""


def _both(got: torch.Tensor, expected: torch.Tensor) -> str:
    return f"returned {show(got)}\nexpected {show(expected)}"


def _list_dtype(values: Any) -> torch.dtype | None:
    """float64 for lists that hold a float; otherwise torch's own choice (int64 or bool)."""
    while isinstance(values, (list, tuple)) and values:
        if any(isinstance(v, float) for v in values):
            return torch.float64
        values = values[0]
    return torch.float64 if isinstance(values, float) else None


def _mentions(text: str, value: float) -> bool:
    """Is the number written in the text, as a number of its own?"""
    return any(float(found) == float(value) for found in _NUMBER.findall(text))


def _same_bits(before: torch.Tensor, now: Any) -> bool:
    if not isinstance(now, torch.Tensor) or now.dtype != before.dtype or now.shape != before.shape:
        return False
    return torch.equal(before, now) or bool(((before == now) | ((before != before) & (now != now))).all())


def _short(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def _digits(value: Any) -> str:
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return f"{value:.4f}" if 1e-3 <= abs(value) < 1e4 or value == 0 else f"{value:.3e}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_digits(v) for v in value) + "]"
    return repr(value)
