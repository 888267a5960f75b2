"""The data-only language between the grader and a worker: msgpack frames with four extension types.

A frame is a mark, the body's length and the body. The body is one value: None, bool, int, float, str, bytes, list, dict
with str keys, tuple, tensor (dtype, shape, raw bytes), `Ref` or `Foreign`. Nothing in it can be executed. The reader
checks every length before it allocates and every form before it builds.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from math import prod
from typing import Any

import msgpack
import torch

from autograder.sandbox.operations import DTYPES
from autograder.sandbox.values import Foreign, Ref

MARK = b"AGW1"
HEAD = struct.Struct("<4sQ")
MAX_REPLY = 64 << 20
"""Largest reply a grader reads, in bytes."""
MAX_ENTRIES = 50_000
"""Most entries of lists and dicts in one reply: a byte of a reply can become a hundred bytes of a list."""
MAX_DEPTH = 40
MAX_DIMENSIONS = 8

_TENSOR, _TUPLE, _REF, _FOREIGN, _PACKED = 1, 2, 3, 4, 5
_CODES = {dtype: code for code, dtype in enumerate(DTYPES)}
_SHAPE = struct.Struct("<Q")


class WireError(Exception):
    """A frame that does not have the right form."""


@dataclass(frozen=True)
class Packed:
    """A value that was packed before; it is sent as it is and arrives as the value."""

    body: bytes


def packed(value: Any) -> Packed:
    """Pack a value that will be sent many times."""
    return Packed(_pack(value))


def body(frame: bytes) -> Packed:
    """The value of a frame, as a part of another one."""
    return Packed(frame[HEAD.size :])


def encode(value: Any) -> bytes:
    """A whole frame for `value`."""
    try:
        body = _pack(value)
    except (TypeError, ValueError, OverflowError, RuntimeError, KeyError) as error:
        raise WireError(f"cannot be sent: {str(error)[:200]}") from None
    return HEAD.pack(MARK, len(body)) + body


def body_length(head: bytes, limit: int) -> int:
    """The length of the body that follows this head."""
    mark, length = HEAD.unpack(head)
    if mark != MARK:
        raise WireError("the reply does not begin with the protocol's mark")
    if length > limit:
        raise WireError(f"the reply has {length} bytes, the limit is {limit}")
    return int(length)


def decode(body: bytes | bytearray | memoryview, trusted: bool = False) -> Any:
    """The value of a frame's body. One from a `trusted` side may have any depth and any number
    of entries in all, though no more than MAX_ENTRIES in one list."""
    try:
        value = _Decoder(trusted).unpack(body)
        if not trusted:
            _check_depth(value, 0)
    except WireError:
        raise
    except Exception as error:  # whatever hostile bytes bring about must not be the grader's end
        raise WireError(f"the reply has a wrong form ({type(error).__name__})") from None
    return value


def _pack(value: Any) -> bytes:
    packed: bytes = msgpack.packb(value, default=_extension, strict_types=True)
    return packed


def _extension(value: Any) -> msgpack.ExtType:
    if isinstance(value, torch.Tensor):
        return msgpack.ExtType(_TENSOR, _tensor_bytes(value))
    if isinstance(value, tuple):
        return msgpack.ExtType(_TUPLE, _pack(list(value)))
    if isinstance(value, Ref):
        return msgpack.ExtType(_REF, _pack([value.owner, value.name]))
    if isinstance(value, Foreign):
        return msgpack.ExtType(_FOREIGN, _pack(value.type_name))
    if isinstance(value, Packed):
        return msgpack.ExtType(_PACKED, value.body)
    raise TypeError(f"a {type(value).__name__} is not plain data")


def _tensor_bytes(value: torch.Tensor) -> bytes:
    value = value.detach().contiguous()
    head = bytes((_CODES[value.dtype], value.ndim)) + b"".join(_SHAPE.pack(n) for n in value.shape)
    if value.dtype == torch.bfloat16:
        value = value.view(torch.int16)
    return head + value.numpy().tobytes()


def _tensor(data: bytes) -> torch.Tensor:
    if len(data) < 2 or data[0] >= len(DTYPES) or data[1] > MAX_DIMENSIONS:
        raise WireError("a tensor has a wrong head")
    dtype, start = DTYPES[data[0]], 2 + 8 * data[1]
    if len(data) < start:
        raise WireError("a tensor has no shape")
    shape = [_SHAPE.unpack_from(data, 2 + 8 * i)[0] for i in range(data[1])]
    if prod(size or 1 for size in shape) >= 1 << 40:  # also where an axis of length 0 makes the tensor empty
        raise WireError("a tensor's shape is too large")
    count = prod(shape)
    if len(data) - start != count * dtype.itemsize:
        raise WireError("a tensor's bytes do not fit its shape")
    if count == 0:
        return torch.empty(shape, dtype=dtype)
    raw = bytearray(data[start:])
    if dtype == torch.bool and max(raw) > 1:
        raise WireError("a boolean tensor holds other values than 0 and 1")
    return torch.frombuffer(raw, dtype=dtype).reshape(shape)


class _Decoder:
    """Decodes one body; counts its entries, how deep extensions are nested in it and how much they hold together."""

    def __init__(self, trusted: bool) -> None:
        self.entries = self.depth = self.nested = 0
        self._hook = None if trusted else self.counted

    def unpack(self, body: bytes | bytearray | memoryview) -> Any:
        return msgpack.unpackb(
            body,
            ext_hook=self.extension,
            list_hook=self._hook,
            object_hook=self._hook,
            max_array_len=MAX_ENTRIES,
            max_map_len=MAX_ENTRIES,
            strict_map_key=True,
            raw=False,
        )

    def counted(self, container: Any) -> Any:
        self.entries += 1 + len(container)
        if self.entries > MAX_ENTRIES:
            raise WireError(f"the reply has more than {MAX_ENTRIES} entries")
        return container

    def extension(self, code: int, data: bytes) -> Any:
        if code == _TENSOR:
            return _tensor(data)
        if code not in (_TUPLE, _REF, _FOREIGN, _PACKED) or self.depth >= MAX_DEPTH:
            raise WireError("an unknown extension, or tuples nested too deeply")
        self.depth += 1
        self.nested += len(data)
        if self.nested > 4 * MAX_REPLY:
            raise WireError("extensions hold too much together")
        inner = self.unpack(data)
        self.depth -= 1
        if code == _PACKED:
            return inner
        if code == _TUPLE and type(inner) is list:
            return tuple(inner)
        if code == _FOREIGN and type(inner) is str:
            return Foreign(inner)
        if code == _REF and type(inner) is list and [type(part) for part in inner] in ([int, str], [str, str]):
            return Ref(*inner)
        raise WireError("an extension has a wrong form")


def _check_depth(value: Any, depth: int) -> None:
    if depth > MAX_DEPTH:
        raise WireError("nested too deeply")
    if isinstance(value, (list, tuple)):
        for entry in value:
            _check_depth(entry, depth + 1)
    elif isinstance(value, dict):
        for entry in value.values():
            _check_depth(entry, depth + 1)
