"""Attacks that want to harm processes: the grader, the zygote, other workers, and the channel to them."""

from __future__ import annotations

from attacks.corpus import Attack, instead, tries

ATTACKS = [
    Attack(
        "signals_to_all",
        "sends the null signal to everything it can reach, by every call that sends signals",
        tries("""
            import ctypes, os, platform
            libc = ctypes.CDLL(None)
            queue, of_a_thread, to_thread = {'x86_64': (129, 297, 200), 'aarch64': (138, 240, 130)}[platform.machine()]
            room = ctypes.create_string_buffer(128)

            def reached(send):
                found = []
                for pid in range(1, 3000):
                    if pid != os.getpid():
                        try:
                            if send(pid) in (None, 0):
                                found.append(pid)
                        except OSError:
                            pass
                return found[:9]

            attempt('kill', lambda: reached(lambda pid: os.kill(pid, 0)))
            attempt('group', lambda: reached(lambda pid: os.killpg(pid, 0)))
            attempt('tkill', lambda: reached(lambda pid: libc.syscall(to_thread, pid, 0)))
            attempt('tgkill', lambda: reached(lambda pid: libc.tgkill(pid, pid, 0)))
            attempt('queue', lambda: reached(lambda pid: libc.syscall(queue, pid, 0, room)))
            attempt('queue of a thread', lambda: reached(lambda pid: libc.syscall(of_a_thread, pid, pid, 0, room)))
            for pid in [-1, *others()]:
                attempt(pid, lambda: os.kill(pid, 0) is None)
        """),
    ),
    Attack(
        "signals_by_files",
        "has the kernel signal its parent whenever something can be read",
        tries("""
            import ctypes, fcntl, os, struct
            libc = ctypes.CDLL(None)
            for number in range(5):
                attempt((number, 'owner'), lambda: fcntl.fcntl(number, fcntl.F_SETOWN, os.getppid()) == 0)
                attempt((number, 'owner_ex'), lambda: libc.fcntl(number, 15, struct.pack('ii', 1, os.getppid())))
                attempt((number, 'signal'), lambda: fcntl.fcntl(number, fcntl.F_SETSIG, 0) == 0)
                attempt((number, 'ioctl'), lambda: bool(fcntl.ioctl(number, 0x8901, struct.pack('i', os.getppid()))))
        """),
    ),
    Attack(
        "writes_into_zygote",
        "opens the memory of its parent for writing, and writes there what is there already",
        tries("""
            import ctypes, os, sys
            libc = ctypes.CDLL(None, use_errno=True)
            ours = (ctypes.c_size_t * 2)(id(sys.version) + sys.getsizeof('') - 1, 1)  # its first letter, the same there
            for pid in others()[:12]:
                attempt((pid, 'mem'), lambda: os.open(f'/proc/{pid}/mem', os.O_RDWR))
                for name in ('oom_score_adj', 'comm', 'coredump_filter', 'clear_refs', 'timerslack_ns', 'autogroup', 'uid_map', 'attr/current'):
                    attempt((pid, name), lambda: os.open(f'/proc/{pid}/{name}', os.O_WRONLY))
            attempt('writev', lambda: libc.process_vm_writev(os.getppid(), ours, 1, ours, 1, 0))
            attempt('madvise', lambda: libc.syscall(440, libc.syscall(434, os.getppid(), 0), ours, ctypes.c_size_t(1), 20, 0))
        """),
    ),
    Attack(
        "steals_descriptors",
        "takes open files out of its parent by a descriptor for the process",
        tries("""
            import ctypes, os
            libc = ctypes.CDLL(None, use_errno=True)
            for pid in others()[:12]:
                process = libc.syscall(434, pid, 0)
                attempt((pid, 'pidfd'), lambda: process)
                if process >= 0:
                    attempt((pid, 'signal'), lambda: libc.syscall(424, process, 0, None, 0))
                    for number in range(12):
                        attempt((pid, number), lambda: libc.syscall(438, process, number, 0))
                    attempt((pid, 'setns'), lambda: libc.setns(process, 0x04000000))
        """),
    ),
    Attack(
        "limits_of_parent",
        "reads and sets the limits of its parent, which all workers after it would inherit",
        tries("""
            import ctypes, os, resource
            libc = ctypes.CDLL(None, use_errno=True)
            for kind in (resource.RLIMIT_NOFILE, resource.RLIMIT_CPU, resource.RLIMIT_AS, resource.RLIMIT_NPROC):
                attempt(kind, lambda: resource.prlimit(os.getppid(), kind))
                attempt((kind, 'set'), lambda: resource.prlimit(os.getppid(), kind, resource.prlimit(os.getppid(), kind)))
            room = (ctypes.c_ulong * 2)()
            attempt('upper half', lambda: libc.syscall({'x86_64': 302, 'aarch64': 261}[os.uname().machine], ctypes.c_long(1 << 32 | os.getppid()), 7, None, room))
        """),
    ),
    Attack(
        "pace_of_parent",
        "sets priority, processors and scheduling of its parent, to what they are",
        tries("""
            import ctypes, os, platform
            libc = ctypes.CDLL(None, use_errno=True)
            pid, io = os.getppid(), {'x86_64': 251, 'aarch64': 30}[platform.machine()]
            attempt('priority', lambda: os.setpriority(os.PRIO_PROCESS, pid, os.getpriority(os.PRIO_PROCESS, pid)) is None)
            attempt('group', lambda: os.getpriority(os.PRIO_PGRP, os.getpgid(pid)))
            attempt('processors', lambda: os.sched_setaffinity(pid, os.sched_getaffinity(pid)) is None)
            attempt('scheduler', lambda: os.sched_setscheduler(pid, os.SCHED_OTHER, os.sched_param(0)) is None)
            attempt('io', lambda: libc.syscall(io, 1, pid, 0))
            attempt('pages', lambda: libc.syscall({'x86_64': 256, 'aarch64': 238}[platform.machine()], pid, 0, None, None))
        """),
    ),
    Attack(
        "kills_parent",
        "kills the process that has made it",
        tries("import os\nattempt('killed', lambda: os.kill(os.getppid(), 9) is None)"),
        hurts=True,
    ),
    Attack(
        "kills_all",
        "kills everything that it may kill",
        tries("import os\nattempt('killed', lambda: os.kill(-1, 9) is None)"),
        hurts=True,
    ),
    Attack(
        "closes_all",
        "closes every descriptor, the channel too",
        instead("import os\nos.closerange(0, 4096)\nreturn x"),
        keeps=False,
    ),
    Attack(
        "swaps_descriptors",
        "puts its output where its answers go, and its answers where its output goes",
        instead("return x", before="import os\nkept = os.dup(3)\nos.dup2(4, 3)\nos.dup2(kept, 4)\nos.dup2(kept, 1)"),
        keeps=False,
    ),
    Attack(
        "shuts_the_channel",
        "shuts its channel for reading, or sets it and its output to other modes",
        tries("""
            import ctypes, fcntl, os, struct
            libc = ctypes.CDLL(None, use_errno=True)
            for number in (3, 4):
                attempt((number, 'size'), lambda: fcntl.fcntl(number, 1031, 4096) > 0)
                attempt((number, 'no time'), lambda: libc.setsockopt(number, 1, 21, struct.pack('qq', 60, 0), 16))
                attempt((number, 'shut'), lambda: libc.shutdown(number, 0))
        """),
    ),
    Attack(
        "traced_by_parent",
        "makes its parent the debugger of itself, and changes how the kernel runs it",
        tries("""
            import ctypes
            libc = ctypes.CDLL(None, use_errno=True)
            attempt('personality', lambda: libc.personality(ctypes.c_ulong(0x0040000)))
            attempt('traced', lambda: libc.ptrace(0, 0, None, None))
            attempt('any tracer', lambda: libc.prctl(0x59616D61, ctypes.c_ulong(-1), 0, 0, 0))
            attempt('timer slack', lambda: libc.prctl(29, 1, 0, 0, 0))
            attempt('machine checks', lambda: libc.prctl(33, 1, 1, 0, 0))
            attempt('speculation', lambda: libc.prctl(53, 0, 4, 0, 0))
        """),
    ),
    Attack(
        "typed_into_terminal",
        "types into the terminal that the grader was started from",
        tries("""
            import ctypes, fcntl, os, struct
            libc = ctypes.CDLL(None, use_errno=True)
            for number in range(8):
                attempt((number, 'typed'), lambda: libc.ioctl(number, 0x5412, b' '))
                attempt((number, 'typed, upper half'), lambda: libc.ioctl(number, ctypes.c_ulong(1 << 32 | 0x5412), b' '))
                attempt((number, 'pasted'), lambda: libc.ioctl(number, 0x541C, ctypes.create_string_buffer(b'\\x02')))
                attempt((number, 'taken'), lambda: libc.ioctl(number, 0x540E, 0))
                attempt((number, 'settings'), lambda: libc.ioctl(number, 0x5402, ctypes.create_string_buffer(64)) if os.isatty(number) else -1)
            for path in ('/dev/tty', '/dev/pts/0', '/dev/pts/1', '/dev/vcs'):
                attempt(path, lambda: os.open(path, os.O_WRONLY | os.O_NOCTTY | os.O_NONBLOCK))
        """),
    ),
]
