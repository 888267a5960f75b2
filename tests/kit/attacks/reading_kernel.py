"""Attacks that want the kernel to tell: its own files, keyrings, instruments that look into other processes."""

from __future__ import annotations

from attacks.corpus import Attack, tries

ATTACKS = [
    Attack(
        "kernel_files",
        "reads the kernel's own files: its log, symbols, mounts, memory and disks",
        tries("""
            import ctypes, os
            libc = ctypes.CDLL(None, use_errno=True)
            for path in ('/proc/kallsyms', '/proc/kcore', '/proc/iomem', '/proc/cmdline', '/proc/mounts', '/proc/self/mountinfo',
                         '/proc/self/maps', '/proc/net/unix', '/proc/net/tcp', '/proc/sys/kernel/random/boot_id', '/proc/version',
                         '/proc/keys', '/proc/sysvipc/shm', '/proc/self/cgroup', '/sys/kernel/notes', '/sys/class/net/lo/address',
                         '/sys/class/dmi/id/product_name', '/dev/mem', '/dev/kmem', '/dev/port', '/dev/kmsg', '/dev/vda', '/dev/sda',
                         '/dev/nvme0n1', '/dev/fuse', '/dev/kvm', '/etc/passwd', '/etc/hostname', '/etc/machine-id'):
                attempt(path, lambda: os.read(os.open(path, os.O_RDONLY | os.O_NONBLOCK), 40))
            attempt('klogctl', lambda: libc.klogctl(3, ctypes.create_string_buffer(200), 200))
        """),
    ),
    Attack(
        "keyrings",
        "searches and reads the kernel's keyrings",
        tries("""
            import ctypes, platform
            libc = ctypes.CDLL(None, use_errno=True)
            add_key, request_key, keyctl = {'x86_64': (248, 249, 250), 'aarch64': (217, 218, 219)}[platform.machine()]
            room = ctypes.create_string_buffer(256)
            GET_ID, READ, DESCRIBE, UNLINK = 0, 11, 6, 9
            for ring in (-1, -2, -3, -4, -5):  # of the thread, process, session, user, user's session
                attempt((ring, 'id'), lambda: libc.syscall(keyctl, GET_ID, ring, 0))
                attempt((ring, 'read'), lambda: libc.syscall(keyctl, READ, ring, room, 256))
                attempt((ring, 'describe'), lambda: libc.syscall(keyctl, DESCRIBE, ring, room, 256))
            attempt('request', lambda: libc.syscall(request_key, b'user', b'kit_attack', None, -3))
        """),
    ),
    Attack(
        "observers",
        "asks the kernel for instruments that look into other processes: perf, bpf, userfaultfd, kcmp",
        tries("""
            import ctypes, os, platform, struct
            libc = ctypes.CDLL(None, use_errno=True)
            perf, bpf, fault, kcmp = {'x86_64': (298, 321, 323, 312), 'aarch64': (241, 280, 282, 272)}[platform.machine()]
            event = ctypes.create_string_buffer(struct.pack('IIQ', 1, 128, 1), 128)  # software: clock of the task
            for pid in (0, os.getppid(), -1):
                attempt(('perf', pid), lambda: libc.syscall(perf, event, pid, 0 if pid == -1 else -1, -1, ctypes.c_ulong(0)))
            attempt('bpf', lambda: libc.syscall(bpf, 0, ctypes.create_string_buffer(struct.pack('IIII', 2, 4, 8, 1), 128), 128))
            attempt('userfaultfd', lambda: libc.syscall(fault, 0))
            attempt('kcmp', lambda: libc.syscall(kcmp, os.getpid(), os.getppid(), 1, 0, 0))
        """),
    ),
    Attack(
        "watchers",
        "asks the kernel to tell it whenever somebody opens a file",
        tries("""
            import ctypes
            libc = ctypes.CDLL(None, use_errno=True)
            attempt('inotify', lambda: libc.inotify_init1(0))
            attempt('watched', lambda: libc.inotify_add_watch(libc.inotify_init1(0), b'@COURSE@', 0x20))
            attempt('fanotify', lambda: libc.fanotify_init(0, 0))
        """),
    ),
    Attack(
        "others_clocks",
        "reads the CPU clocks and the lock list of other processes, which tell when and what they compute",
        tries("""
            import ctypes, os, platform, time
            libc = ctypes.CDLL(None, use_errno=True)
            locks = {'x86_64': 274, 'aarch64': 100}[platform.machine()]
            head, size = ctypes.c_void_p(), ctypes.c_size_t()
            for pid in others():
                attempt((pid, 'clock'), lambda: time.clock_gettime((~pid << 3) | 2))
                attempt((pid, 'locks'), lambda: libc.syscall(locks, pid, ctypes.byref(head), ctypes.byref(size)))
        """),
    ),
]
