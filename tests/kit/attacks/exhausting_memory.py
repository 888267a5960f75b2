"""Attacks that want memory, and what else a machine has only so much of: processes, threads, descriptors, disk.

They are bounded, and say GOT IT when they got more than a submission may have.
"""

from __future__ import annotations

from attacks.corpus import Attack, at_import, in_call, in_first_call, instead

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

ATTACKS = [*MEMORY, *OF_THE_MACHINE]
