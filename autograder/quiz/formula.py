"""Formulas of a quiz: arithmetic, a few functions, and values of the course's worked examples; nothing else.

trace('layer_norm.row_1_2_3_4.normalized')[0][1]        sqrt(D)        4 * C**2        [B, T, V]
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

Value: TypeAlias = "int | float | bool | list[Value]"
Lookup: TypeAlias = Callable[[str], "Value"]

_BINARY: dict[type[ast.AST], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
}
_COMPARISON: dict[type[ast.AST], Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
LARGEST = 10.0**15
"""Beyond it a result is a slip of the author's."""


class FormulaError(ValueError):
    """A formula cannot be read, or has no value; the text says why."""


@dataclass(frozen=True)
class Parsed:
    """A formula that was read; `names` are its parameters, `traces` the worked values it uses."""

    text: str
    tree: ast.expr
    names: frozenset[str]
    traces: tuple[str, ...]

    @property
    def is_bare(self) -> bool:
        """Is it only a number or a list of numbers, typed and not got from anything?"""
        return not self.names and not any(
            isinstance(n, (ast.Call, ast.BinOp, ast.Compare)) for n in ast.walk(self.tree)
        )


def parsed(text: str) -> Parsed:
    """Read a formula. Raises FormulaError."""
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError):
        raise FormulaError(f"`{text}` is not a formula") from None
    names = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)}
    calls = [n for n in ast.walk(tree) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)]
    used = tuple(str(_trace_name(n)) for n in calls if isinstance(n.func, ast.Name) and n.func.id == "trace")
    return Parsed(text, tree, frozenset(names - {*FUNCTIONS, "trace"}), used)


def value_of(formula: Parsed, names: Mapping[str, int | float], trace: Lookup) -> Value:
    """The value with these parameters. Raises FormulaError where there is none, or where it is not finite."""
    try:
        found: Value = _value(formula.tree, names, trace)
    except FormulaError:
        raise
    except (ArithmeticError, ValueError, TypeError, IndexError) as error:
        raise FormulaError(f"`{formula.text}` has no value: {error}") from None
    if not all(math.isfinite(x) and abs(x) <= LARGEST for x in flat(found)):
        raise FormulaError(f"`{formula.text}` is not a finite number of ordinary size")
    return found


def flat(value: Value) -> list[float]:
    """All numbers of a value."""
    return [x for part in value for x in flat(part)] if isinstance(value, list) else [value]


def _trace_name(call: ast.Call) -> str:
    argument = call.args[0] if len(call.args) == 1 and not call.keywords else None
    if not isinstance(argument, ast.Constant) or not isinstance(argument.value, str):
        raise FormulaError("trace takes one name in quotes, such as trace('layer_norm.row_1_2_3_4.variance')")
    return argument.value


def _value(node: ast.expr, names: Mapping[str, int | float], trace: Lookup) -> Any:
    def of(part: ast.expr) -> Any:
        return _value(part, names, trace)

    match node:
        case ast.Constant(value=bool() | int() | float() as number):
            return number
        case ast.Name(id=name) if name in names:
            return names[name]
        case ast.List(elts=parts) | ast.Tuple(elts=parts):
            return [of(part) for part in parts]
        case ast.UnaryOp(op=ast.USub(), operand=part):
            return -of(part)
        case ast.UnaryOp(op=ast.Not(), operand=part):
            return not of(part)
        case ast.BinOp(left=left, op=sign, right=right) if type(sign) in _BINARY:
            return _calculated(type(sign), of(left), of(right))
        case ast.Compare(left=left, ops=[sign], comparators=[right]) if type(sign) in _COMPARISON:
            return _COMPARISON[type(sign)](of(left), of(right))
        case ast.BoolOp(op=ast.And(), values=parts):
            return all(of(part) for part in parts)
        case ast.BoolOp(op=ast.Or(), values=parts):
            return any(of(part) for part in parts)
        case ast.Subscript(value=part, slice=index):
            return of(part)[of(index)]
        case ast.Call(func=ast.Name(id="trace")):
            return trace(_trace_name(node))
        case ast.Call(func=ast.Name(id=name), args=parts, keywords=[]) if name in FUNCTIONS:
            return FUNCTIONS[name](*(of(part) for part in parts))
    raise FormulaError(f"`{ast.unparse(node)}` cannot stand in a formula")


def _calculated(sign: type[ast.AST], left: Any, right: Any) -> Any:
    if not all(isinstance(side, (int, float)) for side in (left, right)):
        raise FormulaError("lists cannot be added or multiplied; take a value out of them with [0]")
    if sign is ast.Pow and abs(right) > 64:
        raise FormulaError("an exponent must not be larger than 64")
    return _BINARY[sign](left, right)


def _shape(value: Value) -> list[Value]:
    if not isinstance(value, list):
        return []
    return [len(value), *(_shape(value[0]) if value else [])]


def _softmax(row: list[float]) -> list[float]:
    top = max(row)
    terms = [math.exp(x - top) for x in row]
    return [term / sum(terms) for term in terms]


def _gelu(x: float) -> float:
    return 0.5 * x * (1 + math.erf(x / math.sqrt(2)))


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "sqrt": math.sqrt,
    "exp": math.exp,
    "log": math.log,
    "erf": math.erf,
    "gelu": _gelu,
    "softmax": _softmax,
    "sum": sum,
    "min": min,
    "max": max,
    "abs": abs,
    "round": round,
    "floor": math.floor,
    "mean": lambda row: sum(row) / len(row),
    "len": len,
    "shape": _shape,
}
