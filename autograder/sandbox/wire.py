"""The data-only language between the grader and a worker: msgpack frames with four extension types.

A frame is a mark, the body's length and the body. The body is one value: None, bool, int, float, str, bytes, list, dict
with str keys, tuple, tensor (dtype, shape, raw bytes), `Ref` or `Foreign`. Nothing in it can be executed. The reader
checks every length before it allocates and every form before it builds.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
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

_TENSOR, _TUPLE, _REF, _FOREIGN = 1, 2, 3, 4
_LONGEST_REF = 1000
_CODES = {dtype: code for code, dtype in enumerate(DTYPES)}


class WireError(Exception):
    """A frame that does not have the right form."""


def request(*operations: tuple[str, Mapping[str, Any]]) -> bytes:
    """The frame that asks a worker for operations, one after the other."""
    return encode([[name, payload] for name, payload in operations])  # a tuple would be an extension each


def body(frame: bytes) -> bytes:
    """The value of a frame, as it was packed."""
    return frame[HEAD.size :]


def joined(bodies: Sequence[bytes]) -> bytes:
    """The body of a list of values that are packed already."""
    head: bytes = msgpack.Packer().pack_array_header(len(bodies))
    return head + b"".join(bodies)


def encode(value: Any) -> bytes:
    """A whole frame for `value`."""
    try:
        body = pack(value)
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
    """The value of a frame's body. One from a `trusted` side may have any depth, and any number of entries
    in all, though no more than MAX_ENTRIES in one list.
    """
    try:
        value = _Decoder(trusted).unpack(body)
        if not trusted:
            _check_form(value, 0)
    except WireError:
        raise
    except Exception as error:  # whatever hostile bytes bring about must not be the grader's end
        raise WireError(f"the reply has a wrong form ({type(error).__name__})") from None
    return value


def pack(value: Any) -> bytes:
    """The body of a frame for `value`. Raises what msgpack raises where a value is no plain data."""
    packed: bytes = msgpack.packb(value, default=_extension, strict_types=True)
    return packed


def _extension(value: Any) -> msgpack.ExtType:
    if isinstance(value, torch.Tensor):
        return msgpack.ExtType(_TENSOR, _tensor_bytes(value))
    if isinstance(value, tuple):
        return msgpack.ExtType(_TUPLE, pack(list(value)))
    if isinstance(value, Ref):
        return msgpack.ExtType(_REF, msgpack.packb([value.owner, value.name]))
    if isinstance(value, Foreign):
        return msgpack.ExtType(_FOREIGN, pack(value.type_name))
    raise TypeError(f"a {type(value).__name__} is not plain data")


def _tensor_bytes(value: torch.Tensor) -> bytes:
    head = bytes((_CODES[value.dtype], value.ndim)) + struct.pack(f"<{value.ndim}Q", *value.shape)
    if value.dtype == torch.bfloat16:
        value = value.view(torch.int16)
    return head + value.detach().numpy().tobytes()


def _tensor(data: bytes) -> torch.Tensor:
    if len(data) < 2 or data[0] >= len(DTYPES) or data[1] > MAX_DIMENSIONS:
        raise WireError("a tensor has a wrong head")
    dtype, start = DTYPES[data[0]], 2 + 8 * data[1]
    if len(data) < start:
        raise WireError("a tensor has no shape")
    shape = struct.unpack_from(f"<{data[1]}Q", data, 2)
    count = prod(shape)
    if (count or prod(size or 1 for size in shape)) >= 1 << 40:  # an axis of length 0 makes any other size possible
        raise WireError("a tensor's shape is too large")
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
        if type(container) is dict and not all(type(key) is str for key in container):
            raise WireError("a dict has keys that are no texts")
        return container

    def extension(self, code: int, data: bytes) -> Any:
        if code == _TENSOR:
            return _tensor(data)
        if code == _REF:
            return _ref(data)
        if code not in (_TUPLE, _FOREIGN) or self.depth >= MAX_DEPTH:
            raise WireError("an unknown extension, or tuples nested too deeply")
        self.depth += 1
        self.nested += len(data)
        if self.nested > 4 * MAX_REPLY:
            raise WireError("extensions hold too much together")
        inner = self.unpack(data)
        self.depth -= 1
        if code == _TUPLE and type(inner) is list:
            return tuple(inner)
        if code == _FOREIGN and type(inner) is str:
            return Foreign(inner)
        raise WireError("an extension has a wrong form")


def _ref(data: bytes) -> Ref:
    parts = msgpack.unpackb(data) if len(data) <= _LONGEST_REF else None
    if type(parts) is not list or [type(part) for part in parts] not in ([int, str], [str, str]):
        raise WireError("an extension has a wrong form")
    return Ref(*parts)


_LEAVES = frozenset((type(None), bool, int, float, str, bytes, torch.Tensor, Ref, Foreign))


def _check_form(value: Any, depth: int) -> None:
    if depth > MAX_DEPTH:
        raise WireError("nested too deeply")
    if isinstance(value, (list, tuple)):
        for entry in value:
            _check_form(entry, depth + 1)
    elif isinstance(value, dict):
        for entry in value.values():
            _check_form(entry, depth + 1)
    elif type(value) not in _LEAVES:
        raise WireError(f"a {type(value).__name__} is not plain data")
