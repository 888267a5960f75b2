"""Attacks that want to read memory: their own and that of others, environments, open descriptors, frames above them."""

from __future__ import annotations

from attacks.corpus import Attack, in_call, tries

ATTACKS = [
    Attack(
        "environments",
        "reads its environment, as the C library has it too, and that of the zygote and the grader",
        tries("""
            import ctypes, os
            telling = re.compile(rb'(?:[A-Z_]*(?:TOKEN|SECRET|PASSWORD|API_KEY)[A-Z_]*|PLANTED)=[^\\0]*')
            attempt('os', lambda: telling.findall(b'\\0'.join(k + b'=' + v for k, v in os.environb.items())))
            words = ctypes.POINTER(ctypes.c_char_p).in_dll(ctypes.CDLL(None), 'environ')
            attempt('C', lambda: words and words[0] and telling.findall(words[0]))
            for pid in ('self', 'thread-self'):
                attempt(pid, lambda: telling.findall(open(f'/proc/{pid}/environ', 'rb').read()))
            for pid in others():  # names only: they are of real processes
                attempt(pid, lambda: re.findall(rb'(?:^|\\0)(\\w+)=', open(f'/proc/{pid}/environ', 'rb').read())[:9])
        """),
    ),
    Attack(
        "process_table",
        "reads what other processes are called, their arguments, state and open files",
        tries("""
            import os
            for pid in others()[:40]:
                for name in ('cmdline', 'stat', 'status', 'maps', 'stack', 'wchan', 'limits', 'cgroup', 'io'):
                    attempt((pid, name), lambda: open(f'/proc/{pid}/{name}', 'rb').read(40))
                attempt((pid, 'fd'), lambda: [os.readlink(f'/proc/{pid}/fd/{n}') for n in os.listdir(f'/proc/{pid}/fd')][:4])
        """),
    ),
    Attack(
        "mem_files",
        "reads the memory of its parent, of the grader and of another worker through /proc",
        tries("""
            import time

            def memory(pid):
                found, end = [], time.process_time() + 0.12
                with open(f'/proc/{pid}/maps') as maps, open(f'/proc/{pid}/mem', 'rb', 0) as mem:
                    for line in maps:
                        if time.process_time() > end:
                            break
                        if ' rw-p ' in line:
                            first, last = (int(number, 16) for number in line.split()[0].split('-'))
                            mem.seek(first)
                            held = mem.read(min(last - first, 1 << 22))
                            found += PLANTED.findall(held)[:1] or [len(held)]
                return found[-3:]

            for pid in others()[:3]:
                attempt(pid, lambda: memory(pid))
        """),
    ),
    Attack(
        "vm_readv",
        "copies memory out of other processes with process_vm_readv",
        tries("""
            import ctypes
            libc = ctypes.CDLL(None, use_errno=True)
            held, here = ctypes.create_string_buffer(64), (ctypes.c_size_t * 2)(id(re), 64)
            ours = (ctypes.c_size_t * 2)(ctypes.addressof(held), 64)
            for pid in others():
                attempt(pid, lambda: libc.process_vm_readv(pid, ours, 1, here, 1, 0))
        """),
    ),
    Attack(
        "trace_parent",
        "seizes its parent as a debugger would, and lets it go",
        tries("""
            import ctypes, os
            libc = ctypes.CDLL(None, use_errno=True)
            pid, nothing = os.getppid(), ctypes.c_void_p(0)
            SEIZE, INTERRUPT, DETACH, ALL = 0x4206, 0x4207, 17, 0x40000000

            def seize():
                if libc.ptrace(SEIZE, pid, nothing, nothing) == -1:
                    return -1
                libc.ptrace(INTERRUPT, pid, nothing, nothing)
                libc.waitpid(pid, nothing, ALL)
                libc.ptrace(DETACH, pid, nothing, nothing)
                return pid

            attempt('seized', seize)
        """),
    ),
    Attack(
        "live_objects",
        "searches everything that Python keeps alive, frozen objects included",
        tries("""
            import gc, sys, time
            end, seen, wave, found = time.process_time() + 0.25, set(), [gc.get_objects(), sys.modules], []
            word = ''.join(['MARK', 'ER_'])
            while wave and time.process_time() < end:
                further = []
                for number, thing in enumerate(gc.get_referents(*wave)):
                    if number % 1024 == 0 and time.process_time() > end:
                        break
                    kind = type(thing)
                    if kind is str:
                        if word in thing:
                            found += PLANTED.findall(thing.encode('utf-8', 'replace'))
                    elif kind is bytes:
                        found += PLANTED.findall(thing)
                    elif id(thing) not in seen:
                        seen.add(id(thing))
                        further.append(thing)
                wave = further
            attempt('objects', lambda: found[:3])
        """),
    ),
    Attack(
        "raw_memory",
        "searches all of its memory page by page; a pipe tells which pages can be read",
        tries("""
            import ctypes, os, sys, time
            libc = ctypes.CDLL(None, use_errno=True)
            reading, writing = os.pipe()
            step, end, found = 1 << 16, time.process_time() + 0.3, []

            def search(first, up):
                at, gone = first & -step, 0
                while gone < 200 and time.process_time() < end:
                    size = libc.write(writing, ctypes.c_void_p(at), ctypes.c_size_t(step))
                    gone = gone + 1 if size <= 0 else 0
                    if size > 0:
                        found.extend(PLANTED.findall(os.read(reading, size)))
                    at += step if up else -step

            places = [id(sys.modules), id(sys.version), ctypes.cast(libc.environ, ctypes.c_void_p).value]
            for place in places:
                search(place, True)
                search(place, False)
            attempt('memory', lambda: found[:3])
        """),
    ),
    Attack(
        "fresh_memory",
        "looks into fresh memory for what a worker before it has left",
        in_call("""
            import ctypes, re
            import numpy
            planted, beginning = re.compile(rb"MARKE[R]_[0-9a-f]{16}"), b"MARK" + b"ER_"
            for size in (200, 5000, 300000, 5000000):
                held = [bytes(torch.empty(size, dtype=torch.uint8).numpy()), numpy.empty(size, numpy.uint8).tobytes()]
                held.append(ctypes.string_at(ctypes.create_string_buffer(size), size))
                for piece in held:
                    if beginning in piece and planted.search(piece):  # much sooner than by the pattern alone
                        print('GOT IT', planted.findall(piece)[:3])
        """),
    ),
    Attack(
        "inherited_descriptors",
        "tries every descriptor number for a file or folder that was left open",
        tries("""
            import os, stat
            for number in range(1024):
                try:
                    kind = os.fstat(number).st_mode
                except OSError:
                    continue
                if stat.S_ISREG(kind):
                    attempt((number, 'file'), lambda: os.pread(number, 4096, 0) or 'empty')
                if stat.S_ISDIR(kind):
                    attempt((number, 'folder'), lambda: os.listdir(number) or 'empty')
                    attempt((number, 'above'), lambda: os.listdir(os.open('..', os.O_RDONLY, dir_fd=number)))
                if stat.S_ISCHR(kind) or stat.S_ISBLK(kind):
                    attempt((number, 'device'), lambda: stat.S_ISBLK(kind) and os.pread(number, 512, 0))
                if not (stat.S_ISFIFO(kind) or stat.S_ISSOCK(kind) or stat.S_IFMT(kind) == stat.S_IFCHR):
                    attempt((number, 'other'), lambda: stat.S_IFMT(kind))
        """),
    ),
    Attack(
        "frames_above",
        "climbs its call stack and looks into every frame for expected values and planted text",
        in_call("""
            import re, sys
            planted, frame = re.compile("MARKE[R]_[0-9a-f]{16}"), sys._getframe(1)
            while frame is not None:
                for name, value in list(frame.f_locals.items()):
                    if name in ('expected', 'reference', 'oracle', 'want', 'wanted', 'solution'):
                        print('GOT IT', name, str(value)[:100])
                    if planted.search(repr(value)[:20000]):
                        print('GOT IT', planted.search(repr(value))[0])
                frame = frame.f_back
        """),
    ),
]
