"""Attacks on what decides an outcome beside the answer: comparisons, exits, errors, clocks, and what reports are read
from."""

from __future__ import annotations

from attacks.corpus import Attack, at_import, in_call, instead

ATTACKS = [
    Attack(
        "patched_comparisons",
        "replaces what torch and unittest compare with",
        instead(
            "return x",
            """
            import math, torch, torch.testing, unittest
            torch.allclose = torch.equal = torch.isclose = lambda *a, **k: True
            torch.isfinite = torch.isnan = lambda t: t == t
            torch.Tensor.__gt__ = torch.Tensor.__ne__ = lambda a, b: torch.zeros(1, dtype=torch.bool)
            torch.testing.assert_close = unittest.TestCase.assertEqual = lambda *a, **k: None
            math.isfinite = lambda v: True
            """,
        ),
        keeps=False,
    ),
    Attack(
        "exits_politely", "leaves with SystemExit(0) when it is called", instead("raise SystemExit(0)"), keeps=False
    ),
    Attack(
        "exits_at_import",
        "ends its process without an error when it is read",
        at_import("import os\nos._exit(0)"),
        keeps=False,
    ),
    Attack(
        "exits_in_call",
        "ends its process without an error when it is called",
        instead("import os\nos._exit(0)"),
        keeps=False,
    ),
    Attack(
        "exception_named_passed",
        "raises exceptions that look like outcomes of a test program",
        instead(
            """
            COUNT.append(1)
            kind = ["Passed", "Skipped", "Exit", "XFailed", "KeyboardInterrupt", "KitFault", "SandboxError"][len(COUNT) % 7]
            raise type(kind, (Exception,), {"__module__": ["builtins", "_pytest.outcomes"][len(COUNT) % 2]})("share=1.0")
            """,
            "COUNT = []",
        ),
        keeps=False,
    ),
    Attack(
        "interrupts",
        "raises KeyboardInterrupt, GeneratorExit and BaseExceptionGroup by turns",
        instead(
            "COUNT.append(1)\nraise [KeyboardInterrupt, GeneratorExit, lambda: BaseExceptionGroup('g', [SystemExit(0)])][len(COUNT) % 3]()",
            "COUNT = []",
        ),
        keeps=False,
    ),
    Attack(
        "predicted_inputs",
        "looks whether its own random state is the one that hidden inputs are drawn from",
        in_call(
            """
            import random
            import numpy as np
            state = torch.default_generator.get_state()
            seeds = [torch.initial_seed(), torch.initial_seed() + 1, 0, 42, random.getrandbits(31)]
            draws = [torch.randn(64, generator=torch.Generator().manual_seed(seed)) for seed in seeds]
            draws += [torch.from_numpy(np.random.RandomState(seed % 2**32).randn(64)).float() for seed in seeds]
            draws += [torch.from_numpy(np.random.default_rng(seed).standard_normal(64)).float() for seed in seeds]
            torch.default_generator.set_state(state)
            seen = x.detach().float().flatten()[:8]
            if len(seen) == 8 and any((draw[:8] - seen).abs().max() < 1e-3 for draw in draws):
                print("GOT IT: inputs are predicted")
            """
        ),
    ),
    Attack(
        "fake_time",
        "stops all clocks that it can reach",
        at_import(
            """
            import time
            time.time = time.monotonic = time.perf_counter = time.process_time = lambda: 0.0
            time.clock_gettime = lambda clock: 0.0
            time.clock_settime(time.CLOCK_MONOTONIC, 0.0)
            """
        ),
    ),
    Attack(
        "results_written",
        "writes result files where a grader might look for them",
        instead(
            "return x",
            """
            import os
            for folder in (".", "/tmp", "/autograder/results", "/dev/shm", "@COURSE@", "@COURSE@/tests"):
                for name in ("results.json", "junit.xml"):
                    path = f"{folder}/kit_attack_{name}"
                    try:
                        with open(path, "w") as file:
                            print("GOT IT: opened", path)
                            file.write('{"score": 10}')
                    except OSError:
                        pass
                    try:
                        os.remove(path)
                    except OSError:
                        pass
            """,
        ),
        keeps=False,
    ),
    Attack(
        "fake_report",
        "prints what looks like a report with all points, commands for a build server and terminal codes",
        instead(
            "return x",
            r"""
            print("10 passed in 0.01s\n{\"earned\": 10, \"outcome\": \"passed\"}\nTOTAL 10/10")
            print("::set-output name=points::10\n##vso[task.complete result=Succeeded]\n::add-mask::0")
            print("\x1b[2J\x1b[1A\x1b]0;10 of 10\x07\r\u202e01/01\x00\ud800".encode("utf-8", "replace").decode())
            """,
        ),
        keeps=False,
    ),
    Attack(
        "markup_in_names",
        "raises an error whose type and text are a formula, markup and terminal codes",
        instead(
            r"""
            name = '=HYPERLINK("http://example.org";"10")<img src=x onerror=alert(1)>\x1b[31m\r\n,10,10'
            raise type(name, (ValueError,), {"__module__": name})(name * 3 + "\ud800\x00\u202e")
            """
        ),
        keeps=False,
    ),
    Attack(
        "markup_in_type_names",
        "answers with an object whose type is named with a formula, markup and terminal codes",
        instead(
            r"""
            name = '@SUM(1+9)*cmd|"/C calc"!A0</td><script>1</script>\x1b[2K'
            return type(name, (), {"__module__": "=1+1\t", "__qualname__": name})()
            """
        ),
        keeps=False,
    ),
]
