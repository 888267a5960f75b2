"""Attacks that want time: of the grader, of the machine, or only for themselves.

What would go on for ever is left to go on in few of them, and there mostly in one hidden check: each costs its time in
every run. The others are bounded.
"""

from __future__ import annotations

from attacks.corpus import RIGHT, Attack, at_import, in_call, in_first_call, in_one_check, instead

ATTACKS = [
    Attack(
        "loop_at_import",
        "never comes to the end of its own file",
        f"while True:\n    pass\n{RIGHT}",
        keeps=False,
        waits=True,
    ),
    Attack(
        "loop_in_call",
        "computes for ever whenever it is called",
        instead("while True:\n    x = x + 1"),
        keeps=False,
        waits=True,
    ),
    Attack(
        "deaf_loop",
        "computes for ever and ignores every signal and every exception that it can",
        in_one_check(
            """
            import signal
            for number in range(1, 65):
                try:
                    signal.signal(number, signal.SIG_IGN)
                except (OSError, ValueError):
                    pass
            while True:
                try:
                    while True:
                        pass
                except BaseException:
                    pass
            """
        ),
        keeps=False,
        waits=True,
    ),
    Attack(
        "sleeps",
        "sleeps for ever where it is asked everything at once, and not where it is asked piece by piece",
        in_call(
            """
            import sys, time
            frame = sys._getframe()
            while frame is not None:
                if frame.f_code.co_name == "do_script":
                    time.sleep(10**6)
                frame = frame.f_back
            """
        ),
        waits=True,
    ),
    Attack(
        "stops_itself",
        "stops its own process, so that it uses no time at all",
        in_one_check("import signal\nsignal.raise_signal(signal.SIGSTOP)"),
        keeps=False,
        waits=True,
    ),
    Attack(
        "drips",
        "sends a reply of many megabytes byte by byte",
        in_one_check(
            """
            import os, struct
            os.write(3, struct.pack("<4sQ", b"AGW1", 60 << 20))
            while True:
                os.write(3, b"\\x91")
            """
        ),
        keeps=False,
        waits=True,
    ),
    Attack(
        "power_of_powers",
        "computes a number of 370 million digits",
        in_one_check("return 9 ** 9 ** 9"),
        keeps=False,
        waits=True,
    ),
    Attack(
        "endless_error_text",
        "raises an error that never comes to the end of its own text",
        in_one_check(
            """
            class Endless(Exception):
                def __str__(self):
                    while True:
                        pass
            raise Endless
            """
        ),
        keeps=False,
        waits=True,
    ),
    Attack(
        "backtracking",
        "has a regular expression try more ways than there are atoms, and stops that with an alarm",
        in_first_call(
            """
            import re, signal
            def ring(*_):
                raise TimeoutError
            signal.signal(signal.SIGALRM, ring)
            signal.setitimer(signal.ITIMER_REAL, 0.05)
            try:
                re.fullmatch("(a|aa|a*)*b", "a" * 200)
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
            """
        ),
    ),
    Attack(
        "storm_of_alarms",
        "has an alarm ring two thousand times a second while everything else goes on",
        at_import(
            """
            import signal
            signal.signal(signal.SIGALRM, lambda *_: None)
            signal.setitimer(signal.ITIMER_REAL, 0.0005, 0.0005)
            """
        ),
    ),
    Attack(
        "raising_alarms",
        "has alarms raise errors wherever the process is, also in the engine",
        instead(
            "return x",
            """
            import signal
            def ring(*_):
                raise TimeoutError("anywhere")
            signal.signal(signal.SIGALRM, ring)
            signal.setitimer(signal.ITIMER_REAL, 0.005, 0.0001)
            """,
        ),
        keeps=False,
    ),
    Attack(
        "gives_its_turn_away",
        "yields the processor again and again",
        in_first_call("import os\nfor _ in range(20_000):\n    os.sched_yield()"),
    ),
    Attack(
        "catches_fatal_signals",
        "catches every signal, then sends itself those that end a process",
        at_import(
            """
            import signal
            for number in (signal.SIGSEGV, signal.SIGABRT, signal.SIGTERM, signal.SIGINT, signal.SIGXCPU, signal.SIGBUS):
                before = signal.signal(number, lambda *_: None)
                signal.raise_signal(number)
                signal.signal(number, before)
            """
        ),
    ),
    Attack(
        "comes_back_from_the_dead",
        "makes objects that make new ones whenever they are deleted",
        in_first_call(
            """
            left = [20_000]
            class Phoenix:
                def __del__(self):
                    left[0] -= 1
                    if left[0] > 0:
                        Phoenix()
            for _ in range(50):
                Phoenix()
            """
        ),
    ),
    Attack(
        "imports_itself",
        "imports itself, and has the search for modules search for modules",
        at_import(
            """
            import sys
            class Searches:
                def find_spec(self, name, path=None, target=None):
                    __import__(name + "_")
            finder = Searches()
            sys.meta_path.insert(0, finder)
            try:
                import layer_norm
                import kit_attack_module
            finally:
                sys.meta_path.remove(finder)
            """
        ),
    ),
    Attack(
        "warnings",
        "has thousands of warnings printed",
        in_first_call(
            """
            import warnings
            warnings.simplefilter("always")
            for number in range(3_000):
                warnings.warn(f"{number} " + "w" * 100)
            """
        ),
    ),
]
