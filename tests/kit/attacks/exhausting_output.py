"""Attacks that answer, print or raise too much: floods, giants, depths and circles."""

from __future__ import annotations

from attacks.corpus import Attack, in_first_call, in_one_check, instead

ATTACKS = [
    Attack(
        "stdout_flood",
        "prints fifty megabytes, and as much past the stream that counts",
        in_first_call(
            """
            import os
            for _ in range(50):
                print("x" * (1 << 20))
            for _ in range(200):
                os.write(1, b"y" * 60_000)
                os.write(4, b"z\\n" * 30_000)
            """
        ),
    ),
    Attack(
        "stderr_flood",
        "writes to standard error without ever ending the line",
        in_first_call(
            """
            import os, sys
            for _ in range(50):
                sys.stderr.write("\\x1b" * (1 << 20))
            for _ in range(200):
                os.write(2, bytes(60_000))
            """
        ),
    ),
    Attack(
        "one_print_a_call",
        "prints without end in small pieces, until an alarm stops that",
        in_first_call("import sys\nfor _ in range(100_000):\n    sys.stdout.write('.')\n    sys.stdout.flush()"),
    ),
    Attack(
        "giant_tensor_reply",
        "answers with eighty megabytes",
        in_one_check("return torch.zeros(20 << 20)"),
        keeps=False,
    ),
    Attack(
        "giant_list_reply",
        "answers with a list of two hundred thousand numbers",
        in_one_check("return [0] * 200_000"),
        keeps=False,
    ),
    Attack(
        "giant_text_reply",
        "answers with a text of fifty megabytes",
        in_one_check("return 'x' * 50_000_000"),
        keeps=False,
    ),
    Attack(
        "deep_list_reply",
        "answers with a list nested a hundred thousand times",
        instead("answer = []\nfor _ in range(100_000):\n    answer = [answer]\nreturn answer"),
        keeps=False,
    ),
    Attack(
        "deep_frame",
        "sends a frame of its own that is nested a hundred thousand times",
        instead(
            """
            import os, struct
            body = b"\\x81\\xa5value" + b"\\x91" * 100_000 + b"\\xc0"
            os.write(3, struct.pack("<4sQ", b"AGW1", len(body)) + body)
            return x
            """
        ),
        keeps=False,
    ),
    Attack(
        "frame_that_unfolds",
        "sends a frame whose tuples hold tuples, each to be unpacked anew",
        in_one_check(
            """
            import msgpack, os, struct
            body = msgpack.packb([0] * 40_000)
            for _ in range(38):
                body = msgpack.packb(msgpack.ExtType(2, msgpack.packb([msgpack.ExtType(5, body)])))
            body = b"\\x81\\xa5value" + body
            os.write(3, struct.pack("<4sQ", b"AGW1", len(body)) + body)
            """
        ),
        keeps=False,
    ),
    Attack(
        "list_in_itself",
        "answers with a list that holds itself",
        instead("answer = [x]\nanswer.append(answer)\nreturn answer"),
        keeps=False,
    ),
    Attack(
        "giant_error_text",
        "raises an error with a text of thirty megabytes",
        in_one_check("raise ValueError('\\x1b\\n=' * 10_000_000)"),
        keeps=False,
    ),
    Attack(
        "giant_names",
        "raises an error, and answers with an object, whose type has a name of a million letters",
        instead(
            "kind = type('N' * 1_000_000, (Exception,), {})\nif x.ndim > 2:\n    return kind()\nraise kind('E' * 1_000_000)"
        ),
        keeps=False,
    ),
    Attack(
        "chained_errors",
        "raises an error that ten thousand others led to, the last of which led to the first",
        instead(
            """
            first = error = ValueError("0")
            for number in range(10_000):
                error.__cause__ = ValueError(str(number))
                error = error.__cause__
            error.__context__ = first
            raise first
            """
        ),
        keeps=False,
    ),
    Attack(
        "deep_traceback",
        "raises an error from nine hundred calls further down",
        instead("def down(n):\n    if n == 0:\n        raise ValueError(n)\n    down(n - 1)\ndown(900)"),
        keeps=False,
    ),
    Attack(
        "class_of_many_bases",
        "raises an error whose class has thousands of ancestors",
        instead(
            "raise KIND('deep')",
            "KIND = ValueError\nfor number in range(900):\n    KIND = type(f'K{number}', (KIND,), {'__module__': 'builtins'})",
        ),
        keeps=False,
    ),
    Attack(
        "many_parameters",
        "makes a module with five thousand parameters",
        instead("return x") + "\n\nclass LayerNorm(LayerNorm):\n    def __init__(self, *arguments, **keywords):\n"
        "        super().__init__(*arguments, **keywords)\n"
        "        one = torch.ones(1)\n"
        "        for number in range(5_000):\n            self._parameters[f'p{number}'] = nn.Parameter(one)\n",
        keeps=False,
    ),
]
