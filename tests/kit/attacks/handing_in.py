"""Attacks that lie in the bytes of a file and in what is handed in beside it.

Where Python itself would read a file in spite of its oddities, so must the grader. A line that breaks the parser costs
what stands in it; what follows is still read.
"""

from __future__ import annotations

from attacks.corpus import RIGHT, WRONG, Attack

PLANTED = "print('GOT IT: a file beside the submission was run')\n"


def after(line: str, module: str = RIGHT) -> str:
    """The right module, after this line."""
    return f"{line}\n{module}"


def beside(name: str, file: str, text: str = PLANTED, source: str = RIGHT, keeps: bool = True) -> Attack:
    """Right work with a file beside it that somebody might run."""
    return Attack(name, f"hands in {file} beside its work", source, keeps=keeps, beside=((file, text),))


UNREADABLE = [
    Attack("not_utf8", "is no text in any encoding", bytes(range(128, 256)) * 40, keeps=False),
    Attack("nul_bytes", "has zero bytes between its lines", RIGHT.replace("\n", "\n\0").encode(), keeps=False),
    Attack("utf16", "is saved as UTF-16", RIGHT.encode("utf-16"), keeps=False),
    Attack("utf16_without_mark", "is saved as UTF-16 without saying so", RIGHT.encode("utf-16-le"), keeps=False),
    Attack("too_large", "is a megabyte and a half long", RIGHT + "# filler\n" * 170_000, keeps=False),
    Attack(
        "cookie_undefined",
        "names an encoding that refuses everything",
        f"# -*- coding: undefined -*-\n{WRONG}",
        keeps=False,
    ),
    Attack(
        "homoglyph",
        "defines its function under a name that only looks right",
        RIGHT.replace("layer_norm", "l\u0430yer_norm"),
        keeps=False,
    ),
]

READABLE = [
    Attack("latin1", "is saved as Latin-1", f"# caf\xe9 \xa7\n{RIGHT}".encode().replace("é".encode(), b"\xe9")),
    Attack("byte_order_mark", "begins with a UTF-8 byte order mark", b"\xef\xbb\xbf" + RIGHT.encode()),
    Attack("crlf", "ends its lines as Windows does", RIGHT.replace("\n", "\r\n").encode()),
    Attack("cr", "ends its lines as old Macs did", RIGHT.replace("\n", "\r").encode()),
    Attack(
        "mixed_line_ends",
        "ends each line in another way",
        RIGHT.replace("\n", "\r\n", 30).replace("\r\n", "\r", 9).encode(),
    ),
    Attack("form_feeds", "has form feeds between its parts", RIGHT.replace("\n\n\n", "\n\f\n\f\n")),
    Attack(
        "tabs_and_spaces",
        "mixes tabs and spaces in a function that nobody needs",
        f"{RIGHT}\n\ndef spare():\n\tif 1:\n        return 1\n \treturn 2\n",
    ),
    Attack(
        "full_width_names",
        "writes a name in full-width letters, which Python takes for plain ones",
        RIGHT.replace("def layer_norm", "def \uff4c\uff41\uff59\uff45\uff52\uff3f\uff4e\uff4f\uff52\uff4d"),
    ),
    Attack("nearly_too_large", "is nearly a megabyte long", RIGHT + "# filler\n" * 105_000),
    Attack("cookie_utf7", "hides a statement behind UTF-7", f"# -*- coding: utf-7 -*-\n# +AAo-kit_attack = 1\n{RIGHT}"),
    Attack("cookie_rot13", "claims to be written in rot13", f"# -*- coding: rot13 -*-\n{RIGHT}"),
    Attack("cookie_unknown", "claims an encoding that does not exist", f"# -*- coding: kit-attack-8 -*-\n{RIGHT}"),
    Attack("cookie_escapes", "claims to be written in escapes", f"# -*- coding: unicode_escape -*-\n{RIGHT}"),
    Attack("cookie_idna", "claims to be a domain name", f"# -*- coding: idna -*-\n{RIGHT}"),
    Attack("cookie_hex", "claims to be written in hexadecimal digits", f"#!/bin/sh\n# vim: fileencoding=hex\n{RIGHT}"),
    Attack("surrogates", "holds half characters, encoded one by one", RIGHT.replace('"""', '"""\ud800\udfff ', 1)),
    Attack(
        "right_to_left",
        "turns the direction of its lines around",
        RIGHT.replace("# TODO", "# \u202e\u2066 TODO \u2069"),
    ),
    Attack("braces", "asks the future for braces", after("from __future__ import braces")),
    Attack(
        "star_imports",
        "imports everything that it can find a name for",
        after("from torch import *\nfrom math import *\nfrom os import *\nfrom builtins import *"),
    ),
]

BREAKING_THE_PARSER = [
    Attack("brackets", "opens a hundred thousand brackets", after("deep = " + "(" * 100_000)),
    Attack(
        "closed_brackets",
        "opens and closes a hundred thousand brackets",
        after("deep = " + "[" * 100_000 + "]" * 100_000),
    ),
    Attack("minus_signs", "negates a number two hundred thousand times", after("deep = " + "-" * 200_000 + "1")),
    Attack(
        "lambdas", "nests twenty thousand lambdas", after("deep = " + "lambda: " * 20_000 + "0", WRONG), keeps=False
    ),
    Attack("long_integer", "writes a number of ten thousand digits", after("long = " + "7" * 10_000)),
    Attack("long_sum", "adds ten thousand ones", after("long = " + "+".join(["1"] * 10_000))),
    Attack(
        "long_power",
        "has a huge power computed while it is compiled",
        after("long = 10 ** 10 ** 10 if 0 else 'x' * (1 << 40) if 0 else 1"),
    ),
    Attack(
        "attribute_dots",
        "asks for an attribute of an attribute, a hundred thousand times",
        after("deep = deep" + ".a" * 100_000),
    ),
    Attack(
        "f_string",
        "has twenty thousand fields in an f-string",
        after("a = 1\nlong = f'" + "{a}" * 20_000 + "'", WRONG),
        keeps=False,
    ),
    Attack(
        "nested_f_strings", "nests format specifications", after("a = 1\ndeep = f'" + "{a:" * 200 + "}" * 200 + "'")
    ),
    Attack(
        "nested_blocks",
        "nests a thousand blocks",
        after("".join(" " * n + "if 1:\n" for n in range(1_000)) + " " * 1_000 + "pass"),
    ),
    Attack(
        "many_arguments", "calls a function with fifty thousand arguments", after("long = max(" + "1," * 50_000 + ")")
    ),
    Attack("long_name", "has a name of half a million letters", after("n" * 500_000 + " = 1")),
    Attack("open_quotes", "opens a text that never ends, after its work", RIGHT + '\n"""' + "x" * 100_000),
    Attack("many_pieces_broken", "breaks off one small statement after the other", RIGHT + "\nx = (\n" * 300),
]

BESIDE = [
    beside("beside_torch", "torch.py"),
    beside("beside_numpy", "numpy.py"),
    beside("beside_math", "math.py"),
    beside("beside_autograder", "autograder.py"),
    beside("beside_pytest", "pytest.py"),
    beside(
        "beside_conftest",
        "conftest.py",
        "import pytest\n@pytest.hookimpl(wrapper=True)\ndef pytest_pyfunc_call(pyfuncitem):\n    print('GOT IT')\n    yield\n    return True\n",
    ),
    beside("beside_sitecustomize", "sitecustomize.py"),
    beside("beside_usercustomize", "usercustomize.py"),
    beside("beside_pytest_ini", "pytest.ini", "[pytest]\naddopts = --collect-only -p kit_attack\n"),
    beside("beside_pyproject", "pyproject.toml", "[tool.pytest.ini_options]\naddopts = '--collect-only'\n"),
    beside("beside_path_file", "kit_attack.pth", f"import sys; {PLANTED}"),
    beside("beside_compiled", "layer_norm.pyc", "\x00\x01GOT IT"),
    beside("beside_library", "layer_norm.so", "\x7fELF GOT IT"),
    beside("beside_stub", "layer_norm.pyi", f"{PLANTED}def layer_norm(*a): ...\n"),
    beside("beside_suite", "test_layer_norm.py", f"{PLANTED}def test_all(): pass\n"),
    beside("beside_course", "course.yml", "id: mine\ntitle: all points\nassignments: {week08: {points: 0}}\n"),
    beside(
        "beside_receipt",
        "receipt.json",
        '{"earned": 10, "possible": 10, "status": "graded"}\n',
        source=WRONG,
        keeps=False,
    ),
    beside("beside_reference", "reference.py", f"{PLANTED}from layer_norm import *\n", source=WRONG, keeps=False),
]

ATTACKS = [*UNREADABLE, *READABLE, *BREAKING_THE_PARSER, *BESIDE]
