"""Only plain data crosses between grader and worker, and whatever bytes come, they become a value or a WireError."""

from __future__ import annotations

import math
import os
import pickle
import socket
import struct
import threading
import tracemalloc
from typing import Any

import msgpack
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.sandbox import wire
from autograder.sandbox.host.errors import WorkerGone
from autograder.sandbox.host.worker import Worker, WorkerLimits
from autograder.sandbox.operations import DTYPES
from autograder.sandbox.values import Foreign, Ref
from autograder.sandbox.zygote import READY


def there_and_back(value: Any) -> Any:
    frame = wire.encode(value)
    assert wire.body_length(frame[: wire.HEAD.size], wire.MAX_REPLY) == len(frame) - wire.HEAD.size
    return wire.decode(frame[wire.HEAD.size :])


def same(one: Any, other: Any) -> bool:
    """Equal in type, structure and bits."""
    if type(one) is not type(other):
        return False
    if isinstance(one, torch.Tensor):
        bits = torch.int16 if one.dtype == torch.bfloat16 else one.dtype
        raw = [t.contiguous().view(bits).numpy().tobytes() for t in (one, other)]
        return one.dtype == other.dtype and one.shape == other.shape and raw[0] == raw[1]
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict):
        return list(one) == list(other) and all(same(one[key], other[key]) for key in one)
    if isinstance(one, float):
        return struct.pack("<d", one) == struct.pack("<d", other)
    return bool(one == other)


SHAPES = st.lists(st.integers(0, 4), max_size=4)
TENSORS = st.builds(
    lambda shape, dtype, seed: (
        torch.randint(0, 2, shape, generator=torch.Generator().manual_seed(seed)) * (seed % 7)
    ).to(dtype),
    SHAPES,
    st.sampled_from(DTYPES),
    st.integers(0, 2**31),
)
TEXTS = st.text(st.characters(codec="utf-8"), max_size=20)
LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(),
    TEXTS,
    st.binary(max_size=20),
    TENSORS,
    st.builds(Ref, st.one_of(TEXTS, st.integers(0, 2**40)), TEXTS),
    st.builds(Foreign, st.sampled_from(["numpy.ndarray", "set"])),
)
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.lists(inner, max_size=4).map(tuple),
        st.dictionaries(TEXTS, inner, max_size=4),
    ),
    max_leaves=12,
)


@given(VALUES)
@settings(max_examples=150, deadline=None)
def test_every_plain_value_comes_back_as_it_was(value: Any) -> None:
    assert same(there_and_back(value), value)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_tensors_keep_dtype_shape_and_bits(dtype: torch.dtype) -> None:
    for shape in ((), (0,), (3, 0, 2), (2, 3), (1, 1, 1, 1, 2)):
        tensor = (torch.arange(math.prod(shape)) % 2).reshape(shape).to(dtype)
        assert same(there_and_back(tensor), tensor)


def test_odd_floats_and_odd_layouts_survive() -> None:
    odd = torch.tensor([math.nan, math.inf, -math.inf, -0.0, 1e-45])
    assert same(there_and_back(odd), odd)
    matrix = torch.arange(6.0).reshape(2, 3)
    for view in (matrix.t(), matrix[:, 1:], matrix.expand(4, 2, 3), matrix.requires_grad_()):
        back = there_and_back(view)
        assert torch.equal(back, view.detach())
        assert back.is_contiguous()
        assert not back.requires_grad


def test_what_was_packed_before_arrives_as_a_list_of_the_values() -> None:
    values = [[["call", {"x": torch.ones(2)}], (None, 1)], 3, *range(20)]
    packed = [wire.pack(values[0]), *(wire.body(wire.encode(value)) for value in values[1:])]
    assert same(wire.decode(wire.joined(packed)), values)
    assert same(wire.decode(wire.joined([wire.joined(packed), wire.joined([])])), [values, []])


def test_a_request_is_a_list_of_operations() -> None:
    operations = [["fresh", {"seed": 1}], ["call", {"ref": Ref("a", "b")}]]
    assert same(wire.decode(wire.body(wire.request(*map(tuple, operations)))), operations)


class Loud:
    def __reduce__(self) -> tuple[Any, ...]:
        raise AssertionError("was pickled")


@pytest.mark.parametrize(
    "value",
    [
        Loud(),
        {1},
        object,
        len,
        1 + 2j,
        bytearray(b"x").__iter__(),
        2**64,
        torch.ones(2).to_sparse(),
        range(3),
        "\ud800",
    ],
    ids=lambda value: type(value).__name__,
)
def test_anything_else_cannot_be_sent(value: Any) -> None:
    with pytest.raises(wire.WireError):
        wire.encode({"value": [value]})


def test_a_value_that_holds_itself_cannot_be_sent() -> None:
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises(wire.WireError):
        wire.encode(endless)


# -- what a worker may send


def decoded(body: bytes) -> Any:
    """The value of a body, or the WireError; anything else is a failure of the test."""
    try:
        return wire.decode(body)
    except wire.WireError as error:
        return error


PLAIN = (type(None), bool, int, float, str, bytes, list, dict, tuple, torch.Tensor, Ref, Foreign, wire.WireError)


def all_plain(value: Any) -> bool:
    if isinstance(value, dict):
        return all(isinstance(key, str) and all_plain(entry) for key, entry in value.items())
    if isinstance(value, (list, tuple)):
        return all(map(all_plain, value))
    return type(value) in PLAIN


@given(st.binary(max_size=300))
@settings(max_examples=400, deadline=None)
def test_any_bytes_become_a_value_or_a_wire_error(body: bytes) -> None:
    assert all_plain(decoded(body))


@given(VALUES, st.data())
@settings(max_examples=400, deadline=None)
def test_a_damaged_frame_becomes_a_value_or_a_wire_error(value: Any, data: st.DataObject) -> None:
    body = bytearray(wire.encode(value)[wire.HEAD.size :])
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(body) - 1))
        match data.draw(st.sampled_from(["change", "cut", "repeat"])):
            case "change":
                body[place] = data.draw(st.integers(0, 255))
            case "cut":
                del body[place:]
            case "repeat":
                body[place:place] = body[: data.draw(st.integers(0, 40))]
        if not body:
            break
    assert all_plain(decoded(bytes(body)))


@given(st.binary(min_size=wire.HEAD.size, max_size=wire.HEAD.size))
def test_a_head_is_a_length_within_the_limit_or_a_wire_error(head: bytes) -> None:
    for candidate in (head, wire.MARK + head[4:]):
        try:
            assert 0 <= wire.body_length(candidate, 1000) <= 1000
        except wire.WireError:
            assert candidate[:4] != wire.MARK or struct.unpack("<Q", candidate[4:])[0] > 1000


def tensor_extension(code: int, shape: list[int], data: bytes) -> bytes:
    head = bytes((code, len(shape))) + b"".join(struct.pack("<Q", n) for n in shape)
    return msgpack.packb(msgpack.ExtType(1, head + data))


@pytest.mark.parametrize(
    "body",
    [
        tensor_extension(0, [2**40], b""),
        tensor_extension(0, [2**63, 2], b"0" * 8),
        tensor_extension(0, [2**32, 2**32], b""),
        tensor_extension(0, [2**64 - 1], b"0000"),
        tensor_extension(0, [3], b"0" * 8),
        tensor_extension(200, [1], b"0" * 4),
        tensor_extension(9, [2], b"\x01\x02"),
        tensor_extension(0, [1] * 9, b"0" * 4),
        msgpack.packb(msgpack.ExtType(1, b"")),
        msgpack.packb(msgpack.ExtType(1, b"\x00\x04\x00")),
        msgpack.packb(msgpack.ExtType(77, b"code")),
        msgpack.packb(msgpack.ExtType(3, msgpack.packb([None, "x"]))),
        msgpack.packb(msgpack.ExtType(3, msgpack.packb(["a", "b", "c"]))),
        msgpack.packb(msgpack.ExtType(2, msgpack.packb({"a": 1}))),
        msgpack.packb(msgpack.ExtType(4, msgpack.packb(["numpy"]))),
        msgpack.packb({1: 2}, strict_types=True),
        msgpack.packb(1) + b"\x01",
        b"\xc1",
        b"",
        msgpack.packb({b"x": 1, "y": 2}),
        msgpack.packb([{"a": {b"x": 1}}]),
        msgpack.packb(msgpack.Timestamp(1)),
        msgpack.packb([msgpack.ExtType(2, msgpack.packb([msgpack.Timestamp(1)]))]),
    ],
)
def test_a_wrong_form_is_refused(body: bytes) -> None:
    with pytest.raises(wire.WireError):
        wire.decode(body)


def test_a_pickle_is_only_bytes() -> None:
    bomb = pickle.dumps(Loud.__new__)
    assert there_and_back(bomb) == bomb


def test_deep_nesting_is_refused_and_does_not_crash() -> None:
    lists = b"\x91" * 100_000 + b"\x00"
    tuples = msgpack.packb(0)
    for _ in range(200):
        tuples = msgpack.packb(msgpack.ExtType(2, b"\x91" + tuples))
    shallow = [[[[1]]]]
    for body in (lists, tuples, b"\x91" * 60 + b"\x00", b"\x81\xa1a" * 60 + b"\x00"):
        with pytest.raises(wire.WireError):
            wire.decode(body)
    assert there_and_back(shallow) == shallow


def peak(body: bytes) -> int:
    """Most bytes that were allocated while this body was decoded."""
    tracemalloc.start()
    try:
        decoded(body)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def nested(inner: bytes, levels: int) -> bytes:
    for _ in range(levels):
        inner = msgpack.packb(msgpack.ExtType(5, inner))
    return inner


@pytest.mark.parametrize(
    "body",
    [
        b"\xdd\xff\xff\xff\xff",  # a list that claims four thousand million entries
        b"\xdf\xff\xff\xff\xff",
        b"\xc6\xff\xff\xff\xff",  # bytes, text and an extension that claim four gigabytes
        b"\xdb\xff\xff\xff\xff",
        b"\xc9\xff\xff\xff\xff\x01",
        b"\xdd" + struct.pack(">I", 20_000_000) + b"\x90" * 20_000_000,  # empty lists
        b"\xdd" + struct.pack(">I", 20_000_000) + b"\xc0" * 20_000_000,  # nothing, very often
        b"\x93" + (b"\xdd" + struct.pack(">I", 1_500_000) + b"\x80" * 1_500_000) * 3,  # empty dicts in three lists
        nested(b"\xc6" + struct.pack(">I", 30_000_000) + bytes(30_000_000), 30),
    ],
    ids=["list", "dict", "bytes", "text", "extension", "empty_lists", "nothings", "empty_dicts", "boxes"],
)
def test_memory_is_bounded_whatever_a_frame_claims(body: bytes) -> None:
    assert peak(body) < 500_000_000


# -- a hostile worker on the other end


def hostile(data: bytes) -> object:
    """What a worker's answer comes to when the worker sends these bytes and closes."""
    ours, theirs = socket.socketpair()
    reading, writing = os.pipe()
    worker = Worker(os.getpid(), None, ours, reading, WorkerLimits(64, 1, 100), end=lambda pid: None)
    theirs.settimeout(5)

    def serve() -> None:
        with theirs:
            theirs.recv(1 << 16)
            theirs.sendall(data)

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        return worker.ask(wire.request(("fresh", {"seed": 1})), cpu_limit=5, wall_limit=5)
    except WorkerGone as gone:
        return gone
    finally:
        worker.end()
        thread.join()
        os.close(writing)


@given(VALUES, st.data())
@settings(max_examples=150, deadline=None)
def test_whatever_a_hostile_worker_sends_is_a_reply_or_the_end_of_the_worker(value: Any, data: st.DataObject) -> None:
    good = READY + wire.encode({"value": value})
    kind = data.draw(st.sampled_from(["whole", "cut", "changed", "random", "twice", "not ready"]))
    if kind == "cut":
        good = good[: data.draw(st.integers(0, len(good) - 1))]
    elif kind == "changed":
        at = data.draw(st.integers(0, len(good) - 1))
        good = good[:at] + bytes([data.draw(st.integers(0, 255))]) + good[at + 1 :]
    elif kind == "random":
        good = READY + data.draw(st.binary(max_size=200))
    elif kind == "twice":
        good += good[1:]
    elif kind == "not ready":
        good = good[1:]
    found = hostile(good)
    assert isinstance(found, WorkerGone) or set(found) <= {"value", "fault", "at", "behind"} or kind == "changed"
    if kind == "whole":
        assert isinstance(found, dict)
        assert same(found["value"], value)
    elif kind in ("cut", "not ready"):
        assert isinstance(found, WorkerGone)
