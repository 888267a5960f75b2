"""Attacks that want to harm the machine: rights, namespaces, kernel switches, what is left for later submissions."""

from __future__ import annotations

from attacks.corpus import Attack, tries

ATTACKS = [
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
]
