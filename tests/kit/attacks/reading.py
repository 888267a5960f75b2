"""Attacks that want to read what is not theirs: suites, references, other work, memory, the environment."""

from __future__ import annotations

from attacks.corpus import Attack, at_import

ATTACKS = [
    Attack(
        "open_suite",
        "opens the hidden suite by its path",
        at_import("print('GOT IT', open('@COURSE@/tests/suites/week08/test_layer_norm.py').read())"),
    ),
    Attack("stat_secret", "asks whether a file is there", at_import("import os\nos.stat('@SECRET@')\nprint('GOT IT')")),
]
