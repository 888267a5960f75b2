"""Attacks that want to harm what all workers use: installed packages, their files, and the libraries in memory."""

from __future__ import annotations

from attacks.corpus import Attack, tries

ATTACKS = [
    Attack(
        "poisons_packages",
        "opens the installed torch, numpy and standard library for writing, and makes files beside them",
        tries("""
            import json, numpy, os, torch
            for path in (torch.__file__, numpy.__file__, torch._C.__file__, os.__file__, json.__file__):
                attempt(path, lambda: os.open(path, os.O_WRONLY | os.O_APPEND))
                attempt((path, 'both'), lambda: open(path, 'r+b'))
                beside = os.path.join(os.path.dirname(path), 'kit_attack_beside')
                attempt(beside, lambda: os.mkdir(beside) or os.rmdir(beside) is None)
                attempt((beside, 'file'), lambda: os.open(beside, os.O_CREAT | os.O_EXCL, 0o600) and (os.remove(beside) is None))
        """),
    ),
    Attack(
        "attributes_of_files",
        "changes mode, owner, times, name and attributes of files, to what they are already",
        tries("""
            import os, torch

            def extended(path):
                os.setxattr(path, 'user.kit_attack', b'x')
                return os.removexattr(path, 'user.kit_attack') is None

            for path in ('@SECRET@', torch.__file__, os.__file__, '/'):
                try:
                    now = os.stat(path)
                except OSError:
                    continue
                attempt((path, 'chmod'), lambda: os.chmod(path, now.st_mode & 0o7777) is None)
                attempt((path, 'chown'), lambda: os.chown(path, now.st_uid, now.st_gid) is None)
                attempt((path, 'utime'), lambda: os.utime(path, ns=(now.st_atime_ns, now.st_mtime_ns)) is None)
                attempt((path, 'rename'), lambda: os.path.isfile(path) and os.rename(path, path) is None)
                attempt((path, 'xattr'), lambda: extended(path))
            descriptor = os.open(torch.__file__, os.O_RDONLY)
            attempt('fchmod', lambda: os.fchmod(descriptor, os.fstat(descriptor).st_mode & 0o7777) is None)
            attempt('fchown', lambda: os.fchown(descriptor, -1, -1) is None)
        """),
    ),
    Attack(
        "locks_on_files",
        "locks files that every worker reads, and asks for leases on them",
        tries("""
            import fcntl, os, torch
            for path in (torch.__file__, os.__file__):
                descriptor = os.open(path, os.O_RDONLY)
                attempt((path, 'flock'), lambda: fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB) is None)
                attempt((path, 'lockf'), lambda: fcntl.lockf(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB) is None)
                attempt((path, 'lease'), lambda: fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_RDLCK) == 0)
                attempt((path, 'notify'), lambda: fcntl.fcntl(os.open(os.path.dirname(path), os.O_RDONLY), fcntl.F_NOTIFY, 1) == 0)
                os.close(descriptor)
        """),
    ),
    Attack(
        "patched_libraries",
        "patches torch, Python and the C library in memory, and looks whether somebody before it has",
        tries("""
            import builtins, ctypes, gc, math, os, platform, random, sys
            import numpy, torch
            import torch.nn.functional
            libc = ctypes.CDLL(None)
            attempt('patched before', lambda: hasattr(torch, 'kit_attack') or hasattr(sys, 'kit_attack') or libc.abs(-5) != 5)
            attempt('seeded before', lambda: torch.initial_seed() == 4242)
            torch.kit_attack = sys.kit_attack = builtins.kit_attack = True
            for place, name in ((torch, 'layer_norm'), (torch.nn.functional, 'layer_norm'), (torch, 'allclose'), (torch, 'isfinite'),
                                (torch.testing, 'assert_close'), (math, 'isclose'), (numpy, 'allclose')):
                setattr(place, name, lambda *_, **__: True)
            torch.manual_seed(4242)
            random.seed(4242)
            gc.disable()
            os.environ['PYTHONPATH'] = '/tmp/kit_attack'
            sys.path.insert(0, '/tmp/kit_attack')
            if platform.machine() == 'x86_64':  # abs() of the C library: returns 0 from now on
                at = ctypes.cast(libc.abs, ctypes.c_void_p).value
                page = ctypes.c_void_p(at & -4096)
                if libc.mprotect(page, ctypes.c_size_t(8192), 7) == 0:
                    ctypes.memmove(at, bytes.fromhex('31c0c3'), 3)
                    libc.mprotect(page, ctypes.c_size_t(8192), 5)
        """),
    ),
    Attack(
        "written_page_cache",
        "writes through a mapping of a library's file, so that all who map it would see it",
        tries("""
            import ctypes, mmap, os, torch
            libc = ctypes.CDLL(None, use_errno=True)
            libc.mmap.restype = ctypes.c_size_t
            failed = ctypes.c_size_t(-1).value
            descriptor = os.open(torch.__file__, os.O_RDONLY)
            at = libc.mmap(None, ctypes.c_size_t(4096), 1, 1, descriptor, ctypes.c_long(0))
            attempt('mapped', lambda: libc.mmap(None, ctypes.c_size_t(4096), 3, 1, descriptor, ctypes.c_long(0)) not in (failed, 2**32 - 1))
            attempt('made writable', lambda: at != failed and libc.mprotect(ctypes.c_size_t(at), ctypes.c_size_t(4096), 3))
            reading, writing = os.pipe()
            attempt('spliced', lambda: os.splice(descriptor, writing, 16, offset_src=0))
            attempt('given', lambda: libc.vmsplice(writing, (ctypes.c_size_t * 2)(id(torch), 16), 1, 0))
        """),
    ),
]
