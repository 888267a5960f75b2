"""Attacks that want time and memory: of the grader, of the machine, or only for themselves.

What would go on for ever is left to go on in few of them, and there mostly in one hidden check: each costs its time in
every run. The others are bounded, and say GOT IT when they got more than a submission may have.
"""

from __future__ import annotations

import textwrap

from attacks.corpus import RIGHT, Attack, at_import, in_call, instead


def in_one_check(code: str, before: str = "") -> str:
    """The wrong answer, but this in the hidden check that uses an epsilon of 0.1."""
    return instead(
        "if eps == 0.1:\n" + textwrap.indent(textwrap.dedent(code).strip("\n"), "    ") + "\nreturn x", before
    )


def in_first_call(code: str) -> str:
    """The right module, whose first call in a process does this; whatever that raises is caught."""
    first = "if globals().setdefault('_calls', []):\n    raise LookupError\n_calls.append(1)\n"
    return in_call(first + textwrap.dedent(code).strip("\n"))


TIME = [
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

MEMORY = [
    Attack(
        "python_objects",
        "makes objects until there is no memory left",
        at_import(
            """
            kept = []
            try:
                while len(kept) < 80:
                    kept.append([None] * 2_000_000)
                print("GOT IT:", len(kept) * 16, "MB")
            finally:
                kept.clear()
            """
        ),
    ),
    Attack(
        "bytes_in_a_list",
        "keeps blocks of bytes until there is no memory left",
        at_import(
            """
            kept = []
            try:
                while len(kept) < 20:
                    kept.append(b"x" * (64 << 20))
                print("GOT IT:", len(kept) * 64, "MB")
            finally:
                kept.clear()
            """
        ),
    ),
    Attack(
        "one_tensor", "asks for a tensor of a terabyte", in_call("torch.empty(1 << 38)\nprint('GOT IT: a terabyte')")
    ),
    Attack(
        "tensor_that_is_used",
        "asks for a tensor of two gigabytes and writes to all of it",
        in_first_call("torch.ones(1 << 29)\nprint('GOT IT: two gigabytes')"),
    ),
    Attack(
        "mapped_memory",
        "maps memory without a file, also outside of what Python counts",
        in_first_call(
            """
            import mmap
            kept = [mmap.mmap(-1, 256 << 20) for _ in range(8)]
            print("GOT IT: 2 GB")
            """
        ),
    ),
    Attack("recursion", "calls itself without end", in_call("def again():\n    return again() + 1\nagain()")),
    Attack(
        "stack_overflow",
        "takes the limit of recursion away and goes down in C until the stack is used up",
        instead(
            """
            import sys
            sys.setrecursionlimit(2**31 - 1)
            def deep():
                return [*map(lambda _: deep(), [1])]
            deep()
            """
        ),
        keeps=False,
    ),
    Attack(
        "null_pointer", "reads from address zero", instead("import ctypes\nreturn ctypes.string_at(0)"), keeps=False
    ),
    Attack(
        "aborts",
        "calls the C library's abort",
        instead("import ctypes\nctypes.CDLL(None).abort()"),
        keeps=False,
    ),
    Attack(
        "decimal_precision",
        "divides with the highest precision that there is",
        at_import(
            """
            import decimal
            with decimal.localcontext(decimal.Context(prec=decimal.MAX_PREC, Emax=decimal.MAX_EMAX, Emin=decimal.MIN_EMIN)):
                decimal.Decimal(1) / decimal.Decimal(3)
            print("GOT IT: all digits of a third")
            """
        ),
    ),
    Attack(
        "zip_bomb",
        "unpacks far more zeros than its memory from a megabyte",
        at_import(
            """
            import zlib
            packer = zlib.compressobj(9, zlib.DEFLATED, -15)
            head = packer.compress(bytes(1 << 20)) + packer.flush(zlib.Z_FULL_FLUSH)
            again = packer.compress(bytes(1 << 20)) + packer.flush(zlib.Z_FULL_FLUSH)
            got = len(zlib.decompressobj(-15).decompress(head + again * 600))
            if got > 1 << 29:
                print("GOT IT:", got, "bytes")
            """
        ),
    ),
    Attack(
        "rubbish",
        "leaves rubbish in circles, and has the collection of rubbish make more",
        in_first_call(
            """
            import gc
            class Circle:
                def __del__(self):
                    self.other = [self]
            def more(phase, info):
                circle = Circle()
                circle.me = circle
            gc.callbacks.append(more)
            try:
                for _ in range(20_000):
                    circle = Circle()
                    circle.me = circle
            finally:
                gc.callbacks.remove(more)
            """
        ),
    ),
]

OF_THE_MACHINE = [
    Attack(
        "forks",
        "starts fifty processes",
        at_import(
            """
            import os
            for _ in range(50):
                child = os.fork()
                if child == 0:
                    os._exit(0)
                print("GOT IT: a process of its own")
                os.waitpid(child, 0)
            """
        ),
    ),
    Attack(
        "threads",
        "starts three hundred threads",
        at_import(
            """
            import threading
            go, started = threading.Event(), []
            try:
                for _ in range(300):
                    thread = threading.Thread(target=go.wait, daemon=True)
                    thread.start()
                    started.append(thread)
                print("GOT IT:", len(started), "threads")
            finally:
                go.set()
                for thread in started:
                    thread.join()
            """
        ),
    ),
    Attack(
        "torch_threads",
        "has torch compute on 64 threads",
        in_first_call(
            """
            torch.set_num_threads(64)
            try:
                a = torch.ones(400, 400)
                for _ in range(3):
                    a = a @ a / 400
            finally:
                torch.set_num_threads(1)
            """
        ),
    ),
    Attack(
        "higher_limits",
        "raises its own limits and its own priority",
        at_import(
            """
            import os, resource
            def tries(what, *arguments):
                try:
                    what(*arguments)
                    print("GOT IT:", what.__name__, arguments)
                except (OSError, ValueError):
                    pass
            for name in ("AS", "CPU", "FSIZE", "NOFILE", "DATA", "STACK", "NPROC", "MEMLOCK"):
                soft, hard = resource.getrlimit(getattr(resource, "RLIMIT_" + name))
                if hard != resource.RLIM_INFINITY:
                    tries(resource.setrlimit, getattr(resource, "RLIMIT_" + name), (hard + 4096, hard + 4096))
            tries(os.setpriority, os.PRIO_PROCESS, 0, -10)
            tries(os.sched_setscheduler, 0, os.SCHED_RR, os.sched_param(1))
            """
        ),
    ),
    Attack(
        "descriptors",
        "opens descriptors until it gets no more",
        at_import(
            """
            import os
            kept = []
            try:
                while len(kept) < 2_000:
                    kept.append(os.dup(0))
                print("GOT IT:", len(kept), "descriptors")
            finally:
                for descriptor in kept:
                    os.close(descriptor)
            """
        ),
    ),
    Attack(
        "descriptors_kept",
        "opens pipes until it gets no more, and keeps them",
        at_import("import os\nkept = []\nwhile len(kept) < 2_000:\n    kept += os.pipe()"),
    ),
    Attack(
        "disk",
        "fills the disk wherever it can write",
        at_import(
            """
            import os, tempfile
            for folder in (".", "/tmp", "/var/tmp", "/dev/shm", os.path.expanduser("~"), "/dev/mqueue"):
                path = f"{folder}/kit_attack_disk_{os.getpid()}"
                try:
                    file = open(path, "wb", buffering=0)
                except OSError:
                    continue
                try:
                    with file:
                        if file.write(bytes(3 << 20)):
                            print("GOT IT: wrote to", folder)
                except OSError:
                    pass
                finally:
                    os.remove(path)
            """
        ),
    ),
    Attack(
        "memory_file",
        "fills memory through a file that has no name",
        at_import(
            """
            import os
            descriptor = os.memfd_create("kit_attack_memory")
            if os.write(descriptor, bytes(3 << 20)):
                print("GOT IT: memory that no limit of its own counts")
            """
        ),
    ),
]

REPLIES = [
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

ATTACKS = [*TIME, *MEMORY, *OF_THE_MACHINE, *REPLIES]
