"""Attacks that want to outlive the grading of their submission.

What they leave calls itself `kit_leftover` (or sleeps for 60.4242 seconds) and ends by itself within a minute.
"""

from __future__ import annotations

import textwrap

from attacks.corpus import Attack, tries

_STAY = """
import ctypes, os, signal, time


def stay():
    ctypes.CDLL(None).prctl(15, b'kit_leftover', 0, 0, 0)
    time.sleep(60)
    os._exit(0)


def left(make):
    pid = make()
    return pid or stay()

"""


def _leaves(code: str) -> str:
    """The right module, which first does this; it has `stay` (for a child) and `left` (a fork, and its pid) at hand."""
    return tries(_STAY + textwrap.dedent(code))


ATTACKS = [
    Attack("one_fork", "forks, and the child sleeps on", _leaves("attempt('fork', lambda: left(os.fork))")),
    Attack(
        "double_fork",
        "forks twice and starts a session of its own, as a daemon does",
        _leaves("""
            def daemon():
                pid = os.fork()
                if pid == 0:
                    os.setsid()
                    if os.fork():
                        os._exit(0)
                    stay()
                return pid

            attempt('daemon', daemon)
        """),
    ),
    Attack(
        "many_forks",
        "forks twenty times, each child once more, in sessions and groups of their own",
        _leaves("""
            def one():
                pid = os.fork()
                if pid == 0:
                    os.fork()
                    try:
                        os.setsid()
                    except OSError:
                        os.setpgid(0, 0)
                    stay()
                return pid

            for number in range(20):
                attempt(number, one)
        """),
    ),
    Attack(
        "deaf_fork",
        "leaves a child that ignores all signals and is not killed with its parent",
        _leaves("""
            def deaf():
                for number in range(1, 65):
                    try:
                        signal.signal(number, signal.SIG_IGN)
                    except (OSError, ValueError):
                        pass
                signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))
                ctypes.CDLL(None).prctl(1, 0, 0, 0, 0)
                return os.fork()

            attempt('fork', lambda: left(deaf))
        """),
    ),
    Attack(
        "popen_sleep",
        "starts a program in a session of its own",
        _leaves("""
            import subprocess
            for path in ('/bin/sleep', 'sleep'):
                attempt(path, lambda: subprocess.Popen([path, '60.4242'], start_new_session=True).pid)
            attempt('nohup', lambda: os.system('nohup setsid sleep 60.4242 >/dev/null 2>&1 &') == 0)
        """),
    ),
    Attack(
        "spawned_sleep",
        "has the C library start a program in a session of its own",
        _leaves("""
            attempt('session', lambda: os.posix_spawn('/bin/sleep', ['sleep', '60.4242'], {}, setsid=True))
            attempt('group', lambda: os.posix_spawn('/bin/sleep', ['sleep', '60.4242'], {}, setpgroup=0))
            attempt('no wait', lambda: os.spawnv(os.P_NOWAIT, '/bin/sleep', ['sleep', '60.4242']))
        """),
    ),
    Attack(
        "vfork_by_ctypes",
        "has the C library make a child that shares its memory, which becomes a program",
        _leaves("""
            libc = ctypes.CDLL(None)
            words = (ctypes.c_char_p * 3)(b'sleep', b'60.4242', None)

            def become():
                os.write(1, b'GOT IT a vfork')
                libc.execv(b'/bin/sleep', words)
                os._exit(0)

            attempt('vfork', lambda: libc.vfork() or become())
        """),
    ),
    Attack(
        "bare_clone",
        "makes a child that counts as its parent's, with the kernel's own call, old and new",
        _leaves("""
            import platform
            libc = ctypes.CDLL(None)
            clone = {'x86_64': 56, 'aarch64': 220}[platform.machine()]
            nothing, PARENT = ctypes.c_void_p(0), 0x8000
            wanted = (ctypes.c_uint64 * 11)(PARENT)
            attempt('clone', lambda: left(lambda: libc.syscall(clone, PARENT | 17, nothing, nothing, nothing, nothing)))
            attempt('clone3', lambda: left(lambda: libc.syscall(435, wanted, ctypes.c_size_t(88))))
        """),
    ),
    Attack(
        "in_other_namespaces",
        "forks into namespaces of its own, where process ids of others mean nothing",
        _leaves("""
            USERS, PROCESSES, MOUNTS = 0x10000000, 0x20000000, 0x20000
            libc = ctypes.CDLL(None)
            for kinds in (PROCESSES, USERS | PROCESSES, MOUNTS):
                attempt(hex(kinds), lambda: libc.unshare(kinds) == 0 and left(os.fork))
        """),
    ),
    Attack(
        "in_a_terminal",
        "forks into a terminal of its own",
        _leaves("""
            import pty
            attempt('forkpty', lambda: left(lambda: os.forkpty()[0]))
            attempt('pty.fork', lambda: left(lambda: pty.fork()[0]))
        """),
    ),
    Attack(
        "python_threads",
        "starts threads that never end: daemons and others, busy and idle",
        _leaves("""
            import _thread, threading

            def busy():
                end = time.monotonic() + 60
                while time.monotonic() < end:
                    pass

            for daemon in (True, False):
                attempt(('idle', daemon), lambda: threading.Thread(target=time.sleep, args=(60,), daemon=daemon).start() is None)
            attempt('timer', lambda: threading.Timer(50, stay).start() is None)
            attempt('bare', lambda: _thread.start_new_thread(time.sleep, (60,)))
            attempt('busy', lambda: threading.Thread(target=busy).start() is None)
        """),
    ),
    Attack(
        "c_threads",
        "has the C library start a thread, of which Python knows nothing",
        _leaves("""
            libc = ctypes.CDLL(None)
            number, pause = ctypes.c_ulong(), ctypes.cast(libc.pause, ctypes.c_void_p)
            attempt('pthread', lambda: libc.pthread_create(ctypes.byref(number), None, pause, None) == 0)
            stack = ctypes.create_string_buffer(1 << 16)
            top = ctypes.c_void_p(ctypes.addressof(stack) + (1 << 16) - 256)
            attempt('clone', lambda: libc.clone(pause, top, 0x100 | 0x200 | 0x400 | 17, None))
        """),
    ),
    Attack(
        "pools",
        "leaves work in pools, executors and loaders, which wait for it at the end",
        _leaves("""
            import concurrent.futures, multiprocessing, torch.utils.data
            forked = multiprocessing.get_context('fork')
            unlimited()
            attempt('threads', lambda: concurrent.futures.ThreadPoolExecutor().submit(time.sleep, 60).running())
            attempt('processes', lambda: concurrent.futures.ProcessPoolExecutor(1, forked).submit(stay).running())
            attempt('daemon', lambda: forked.Process(target=stay, daemon=True).start() is None)
            attempt('loader', lambda: len(list(torch.utils.data.DataLoader(range(4), num_workers=1, timeout=1))))
        """),
    ),
    Attack(
        "at_exit",
        "registers what is to run, and not to end, when its process ends",
        _leaves("""
            import atexit, sys, threading, weakref

            def last():
                os.write(1, b'GOT IT at the end')
                time.sleep(60)

            class Thing:
                def __del__(self):
                    last()

            kept = [Thing()]
            kept.append(kept)
            sys.modules['kit_attack'] = kept[0]
            atexit.register(last)
            threading._register_atexit(last)
            weakref.finalize(threading.main_thread(), last)
            at_the_end = ctypes.CFUNCTYPE(None)(last)
            sys.modules['kit_attack_kept'] = at_the_end
            ctypes.CDLL(None).atexit(at_the_end)
            for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGUSR1):
                signal.signal(number, lambda *_: last())
        """),
    ),
    Attack(
        "becomes_a_program",
        "replaces itself with a program that sleeps on, and keeps its channel open",
        _leaves("""
            for number in range(8):
                attempt('kept open', lambda: os.set_inheritable(number, True))
            attempt('exec', lambda: os.execv('/bin/sh', ['sh', '-c', 'echo GOT IT a shell; exec sleep 60.4242']))
        """),
    ),
    Attack(
        "outlives_parent",
        "takes back that it is killed with its parent, and adopts orphans",
        _leaves("""
            libc = ctypes.CDLL(None)
            attempt('death signal', lambda: libc.prctl(1, 0, 0, 0, 0))
            attempt('adopts', lambda: libc.prctl(36, 1, 0, 0, 0))
            attempt('dumpable', lambda: libc.prctl(4, 1, 0, 0, 0))
            attempt('group', lambda: os.setpgid(0, os.getpgid(os.getppid())) is None)
        """),
    ),
    Attack(
        "start_up_files",
        "leaves files that are run when the instructor logs in, or Python or a timer starts",
        _leaves("""
            import site, sys
            attempt('.bashrc', lambda: open('@HOME@/.bashrc', 'a'))
            packages = [path for path in sys.path if path.endswith('-packages')]
            folders = ['@HOME@', '@HOME@/.config/autostart', '/etc/cron.d', '/var/spool/cron/crontabs', '/var/spool/cron',
                       '/etc/profile.d', '/etc/systemd/system', '/etc/ld.so.conf.d', '/root', *packages, site.getusersitepackages()]
            for folder in folders:
                path = f'{folder}/kit_attack.pth'
                attempt(folder, lambda: os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600) and path)
                try:
                    os.remove(path)
                except OSError:
                    pass
            for path in ('/etc/ld.so.preload', '/etc/crontab', '/etc/profile', '@HOME@/.profile', os.__file__):
                attempt(path, lambda: os.path.exists(path) and os.open(path, os.O_WRONLY | os.O_APPEND))
        """),
    ),
    Attack(
        "stops_the_zygote",
        "stops the process that has made it, so that no more workers come",
        _leaves("attempt('stopped', lambda: os.kill(os.getppid(), signal.SIGSTOP) is None)"),
        hurts=True,
    ),
    Attack(
        "kernel_timers",
        "has the kernel signal its parent by a timer, when it is gone itself",
        _leaves("""
            import struct
            libc = ctypes.CDLL(None)
            event = ctypes.create_string_buffer(struct.pack('QiiI', 0, 0, 4, os.getppid()), 64)  # the null signal
            timer = ctypes.c_void_p()
            attempt('timer', lambda: libc.timer_create(1, event, ctypes.byref(timer)))
            attempt('timerfd', lambda: libc.timerfd_create(1, 0))
            attempt('eventfd', lambda: libc.eventfd(0, 0))
            attempt('signalfd', lambda: libc.signalfd(-1, ctypes.create_string_buffer(128), 0))
        """),
    ),
]
