"""Attacks that write to the socket themselves: replies in good and in bad form, too early, too many, too large."""

from __future__ import annotations

from attacks.corpus import WALK, WIRE, Attack, instead

ATTACKS = [
    Attack(
        "random_bytes",
        "writes random bytes to the grader",
        instead("os.write(3, os.urandom(4096))\nreturn x", WIRE),
        keeps=False,
    ),
    Attack(
        "reply_with_points",
        "sends a reply of its own that claims points",
        instead("send({'value': True, 'points': 10, 'earned': 10, 'share': 1.0, 'outcome': 'passed'})\nreturn x", WIRE),
        keeps=False,
    ),
    Attack(
        "two_replies",
        "sends two replies at once, so that the next question has its answer already",
        instead("os.write(3, 2 * wire.encode({'value': x.detach()}))\nreturn x", WIRE),
        keeps=False,
    ),
    Attack(
        "reply_before_the_request",
        "answers all questions while it is read, before they are asked",
        instead("return x", f"{WIRE}\nfor _ in range(50):\n    send({{'value': {{'notes': [], 'answers': []}}}})"),
        keeps=False,
    ),
    Attack(
        "reply_then_exit",
        "sends a reply in good form and ends before the engine can send its own",
        instead("send({'value': x.detach()})\nos._exit(0)", WIRE),
        keeps=False,
    ),
    Attack(
        "answers_a_whole_script",
        "finds the questions of all checks on the stack and answers them itself, in good form",
        instead(
            "return x",
            f"""{WIRE}{WALK}
checks = local_of_engine("do_script", "checks")
if checks is not None:
    asked = wire.decode(checks, trusted=True)
    same = [wire.pack([{{"value": True, "points": 10}} for _ in requests]) for requests in asked]
    send({{"value": {{"notes": [], "answers": same}}}})
    os._exit(0)
""",
        ),
        keeps=False,
    ),
    Attack(
        "largest_frame",
        "announces a reply of 2**62 bytes",
        instead("os.write(3, struct.pack('<4sQ', b'AGW1', 2**62))\nreturn x", WIRE),
        keeps=False,
    ),
    Attack(
        "pickle_bytes",
        "sends a pickle that makes a file where it is read",
        instead(
            """
            import pickle
            class Opens:
                def __reduce__(self): return (open, ("/tmp/kit_attack_unpickled", "w"))
            body = pickle.dumps(Opens())
            os.write(3, struct.pack("<4sQ", b"AGW1", len(body)) + body)
            return x
            """,
            WIRE,
        ),
        keeps=False,
    ),
    Attack(
        "says_it_is_ready_again",
        "repeats the byte with which a worker begins",
        instead("os.write(3, b'R')\nreturn x", WIRE),
        keeps=False,
    ),
    Attack(
        "unknown_extensions",
        "sends values of kinds that the protocol does not have, and some that it has with wrong contents",
        instead(
            """
            import msgpack
            COUNT.append(1)
            kinds = [(99, b""), (1, b"\\xff" * 30), (2, b"\\x01"), (3, b"\\x92\\x01\\x01"), (4, b"\\xc0"), (5, b"\\xc1"), (-1, b"\\0" * 4)]
            body = msgpack.packb({"value": msgpack.ExtType(*kinds[len(COUNT) % 7])})
            os.write(3, struct.pack("<4sQ", b"AGW1", len(body)) + body)
            return x
            """,
            f"{WIRE}\nCOUNT = []",
        ),
        keeps=False,
    ),
    Attack(
        "reply_of_both_kinds",
        "sends a fault and a value in one reply, with counts and places far out of range",
        instead(
            "send({'fault': {'kind': [1], 'names': {}, 'line': -5}, 'value': True, 'at': -(2**40), 'behind': 2**40})\nreturn x",
            WIRE,
        ),
        keeps=False,
    ),
]
