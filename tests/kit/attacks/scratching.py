"""Attacks by code that has scratch, 2 MB of it: out of the folder, beyond its size, on other workers' folders.

They are graded with `--scratch` only. What they make there is called `kit_attack...`.
"""

from __future__ import annotations

from attacks.corpus import Attack, tries

ATTACKS = [
    Attack(
        "links_out",
        "makes links from its folder to files outside, by every call that makes links, and reads through them",
        tries("""
            import ctypes, os, torch
            libc = ctypes.CDLL(None)
            here, follow = -100, 0x400
            for number, path in enumerate(('@SECRET@', '@COURSE@', torch.__file__, '/', '/dev/null')):
                link, raw = f'kit_attack_{number}', path.encode()
                attempt(('symbolic', path), lambda: os.symlink(path, link) is None)
                attempt(('symbolic at', path), lambda: libc.symlinkat(raw, here, link.encode() + b'_at'))
                attempt(('hard', path), lambda: os.link(path, f'{link}_hard') is None)
                attempt(('hard at', path), lambda: libc.linkat(here, raw, here, link.encode() + b'_hard_at', follow))
                for made in (link, f'{link}_at', f'{link}_hard', f'{link}_hard_at'):
                    attempt(('read', made), lambda: os.stat(made))
            open('kit_attack_own', 'w').close()
            attempt('hard, of its own file', lambda: os.link('kit_attack_own', 'kit_attack_twice') is None)
            unnamed = os.open('.', os.O_TMPFILE | os.O_RDWR)
            attempt('a name for an unnamed file', lambda: libc.linkat(unnamed, b'', here, b'kit_attack_named', 0x1000))
        """),
    ),
    Attack(
        "special_files",
        "makes pipes, devices and sockets in its folder",
        tries("""
            import os, socket, stat
            for kind in (stat.S_IFIFO, stat.S_IFCHR, stat.S_IFBLK, stat.S_IFSOCK, stat.S_IFREG):
                for device in (os.makedev(1, 1), os.makedev(1, 3), os.makedev(8, 0), 0):
                    attempt((kind, device), lambda: os.mknod('kit_attack', kind | 0o600, device) is None)
            attempt('pipe', lambda: os.mkfifo('kit_attack_pipe') is None)
            attempt('socket', lambda: socket.socket(socket.AF_UNIX).bind('kit_attack_socket') is None)
        """),
    ),
    Attack(
        "climbs_out",
        "makes, moves and removes things outside its folder, by names and by descriptors",
        tries("""
            import os, torch
            open('kit_attack', 'w').write('x')
            up = os.open('..', os.O_PATH | os.O_DIRECTORY)
            packages = os.path.dirname(torch.__file__)
            for folder in ('..', '/', '/dev', '/tmp', '/proc', '@HOME@', packages, os.path.dirname(os.__file__)):
                path = f'{folder}/kit_attack_out'
                attempt(('file', path), lambda: os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))
                attempt(('unnamed', path), lambda: os.open(folder, os.O_TMPFILE | os.O_RDWR, 0o600))
                attempt(('folder', path), lambda: os.mkdir(path) is None)
                attempt(('move', path), lambda: os.rename('kit_attack', path) is None)
            attempt('by descriptor', lambda: os.open('kit_attack_out', os.O_CREAT | os.O_WRONLY, dir_fd=up))
            attempt('move by descriptor', lambda: os.rename('kit_attack', 'kit_attack_out', dst_dir_fd=up) is None)
            attempt('folder by descriptor', lambda: os.mkdir('kit_attack_out', dir_fd=up) is None)
            for path in (torch.__file__, os.__file__, '@SECRET@', '@OTHER@'):
                attempt(('rename to the same', path), lambda: os.rename(path, path) is None)
                attempt(('change', path), lambda: os.open(path, os.O_WRONLY | os.O_APPEND))
            here = os.getcwd()
            attempt('remove itself', lambda: os.rmdir(here) is None)
            attempt('rename itself', lambda: os.rename(here, '/kit_attack') is None)
        """),
    ),
    Attack(
        "attributes_by_owner",
        "changes the mode, times and attributes of devices that belong to its user, to what they are already",
        tries("""
            import os, stat
            for path in ('/dev/null', '/dev/zero', '/dev/urandom', '.'):
                held, found = os.open(path, os.O_RDONLY), os.stat(path)
                mode = stat.S_IMODE(found.st_mode)
                attempt(('mode', path), lambda: os.chmod(path, mode) is None)
                attempt(('mode of open', path), lambda: os.fchmod(held, mode) is None)
                attempt(('owner', path), lambda: os.chown(path, -1, -1) is None)
                attempt(('owner of open', path), lambda: os.fchown(held, -1, -1) is None)
                attempt(('times', path), lambda: os.utime(path, ns=(found.st_atime_ns, found.st_mtime_ns)) is None)
                attempt(('attribute', path), lambda: os.setxattr(path, 'user.kit_attack', b'x') is None)
        """),
    ),
    Attack(
        "mounts_over",
        "mounts something on its folder, makes it larger, takes it away, or makes it the root of everything",
        tries("""
            import ctypes, os, platform
            libc = ctypes.CDLL(None)
            os.mkdir('kit_attack')
            here = os.getcwd().encode()
            BIND, REMOUNT, MOVE = 4096, 32, 8192
            for place in (here, b'kit_attack', b'/', b'/proc'):
                attempt(('tmpfs', place), lambda: libc.mount(b'tmpfs', place, b'tmpfs', 0, b'size=1g') == 0)
                attempt(('proc', place), lambda: libc.mount(b'proc', place, b'proc', 0, None) == 0)
                attempt(('root', place), lambda: libc.mount(b'/', place, None, BIND, None) == 0)
                attempt(('move', place), lambda: libc.mount(here, place, None, MOVE, None) == 0)
                attempt(('away', place), lambda: libc.umount2(place, 2) == 0)
            attempt('larger', lambda: libc.mount(b'tmpfs', here, b'tmpfs', REMOUNT, b'size=1g') == 0)
            attempt('with programs', lambda: libc.mount(None, here, None, REMOUNT | BIND, None) == 0)
            attempt('root', lambda: os.chroot('.') is None)
            attempt('pivot', lambda: libc.syscall({'x86_64': 155, 'aarch64': 41}[platform.machine()], b'.', b'.') == 0)
            for kinds in (0x20000, 0x10000000, 0x10020000):
                attempt(('own mounts', kinds), lambda: libc.unshare(kinds) == 0)
            for call in (428, 429, 430, 432, 433, 442):  # open_tree, move_mount, fsopen, fsmount, fspick, mount_setattr
                attempt(call, lambda: libc.syscall(call, -100, b'.', 0, b'.', 0))
            attempt('fsopen', lambda: libc.syscall(430, b'tmpfs', 0))
        """),
    ),
    Attack(
        "fills_it_up",
        "writes more than its folder may hold: one file, many, holes, maps, unnamed and removed files",
        tries("""
            import errno, mmap, os
            LIMIT, piece = 2 << 20, bytes(1 << 16)

            def written(descriptor):
                total = 0
                try:
                    while total <= 2 * LIMIT:
                        total += os.write(descriptor, piece)
                except OSError:
                    pass
                return total

            def more_than_all(*descriptors):
                return sum(map(written, descriptors)) > LIMIT

            def new(name):
                return os.open(name, os.O_CREAT | os.O_RDWR)

            unlimited()
            attempt('hole', lambda: os.ftruncate(new('kit_attack_hole'), LIMIT + 1) is None)
            attempt('far away', lambda: os.pwrite(new('kit_attack_far'), b'x', 1 << 40))
            attempt('ahead', lambda: os.posix_fallocate(new('kit_attack_ahead'), 0, LIMIT + 1) is None)
            attempt('one', lambda: more_than_all(new('kit_attack_one')))
            os.remove('kit_attack_one')
            attempt('many', lambda: more_than_all(*[new(f'kit_attack_{i}') for i in range(9)]))
            for i in range(9):
                os.remove(f'kit_attack_{i}')  # they stay, for they are open
            attempt('unnamed', lambda: more_than_all(*[os.open('.', os.O_TMPFILE | os.O_RDWR) for _ in range(9)]))
        """),
    ),
    Attack(
        "fills_it_by_maps",
        "writes into maps of files with holes, which takes room without a write",
        tries("""
            import mmap, os
            LIMIT = 2 << 20
            maps = []
            for number in range(3):
                descriptor = os.open(f'kit_attack_{number}', os.O_CREAT | os.O_RDWR)
                os.ftruncate(descriptor, LIMIT)
                maps.append(mmap.mmap(descriptor, LIMIT))
            for one in maps[1:]:
                for place in range(0, LIMIT, 4096):
                    one[place] = 1
            attempt('twice as much', lambda: len(maps))
        """),
        keeps=False,
    ),
    Attack(
        "many_entries",
        "makes more files, folders and unnamed files than its folder may hold",
        tries("""
            import os

            def makes(one):
                made = 0
                try:
                    while made < 5000:
                        one(made)
                        made += 1
                except OSError:
                    pass
                return made > 1024

            attempt('folders', lambda: makes(lambda n: os.mkdir(f'kit_attack_{n}')))
            attempt('files', lambda: makes(lambda n: os.close(os.open(f'kit_attack_{n}' + 'x' * 200, os.O_CREAT))))
        """),
    ),
    Attack(
        "deep_folders",
        "makes folders in folders, deeper than any path can name, for whoever has to clean up",
        tries("""
            import os
            held = os.open('.', os.O_RDONLY)
            for _ in range(900):
                os.mkdir('k' * 250, dir_fd=held)
                inner = os.open('k' * 250, os.O_RDONLY, dir_fd=held)
                os.close(held)
                held = inner
        """),
    ),
    Attack(
        "runs_from_it",
        "writes a program and a library into its folder and runs them",
        tries("""
            import ctypes, mmap, os, torch
            library = os.path.join(os.path.dirname(torch.__file__), 'lib', 'libshm.so')
            for name, content in (('kit_attack_program', b'#!/bin/sh\\necho GOT IT a program'), ('kit_attack.so', open(library, 'rb').read())):
                with open(os.open(name, os.O_CREAT | os.O_WRONLY, 0o6755), 'wb', 0) as file:
                    file.write(content)
            here = os.getcwd()
            attempt('library', lambda: ctypes.CDLL(f'{here}/kit_attack.so'))
            held = os.open('kit_attack.so', os.O_RDWR)
            attempt('map', lambda: mmap.mmap(held, 4096, prot=mmap.PROT_READ | mmap.PROT_EXEC))
            data = mmap.mmap(held, 4096)
            place = ctypes.addressof(ctypes.c_char.from_buffer(data))
            attempt('map made runnable', lambda: ctypes.CDLL(None).mprotect(ctypes.c_void_p(place), ctypes.c_size_t(4096), 5) == 0)
            attempt('spawn', lambda: os.posix_spawn(f'{here}/kit_attack_program', ['x'], {}))
            attempt('exec', lambda: os.execv('kit_attack_program', ['x']))
        """),
    ),
    Attack(
        "traces_in_scratch",
        "looks for what others have in their folders, leaves something there itself, and looks again",
        tries("""
            import ctypes, glob, os, time
            attempt('there before', lambda: os.listdir('.'))
            open('kit_attack_trace', 'w').write('x')
            time.sleep(0.3)
            attempt('came meanwhile', lambda: set(os.listdir('.')) - {'kit_attack_trace'})
            for place in ('/proc/*/root/autograder-scratch', '/proc/*/cwd', os.getcwd(), '/tmp', '/dev/shm', '/var/tmp'):
                attempt(place, lambda: set(map(os.path.basename, glob.glob(f'{place}/kit_attack*'))) - {'kit_attack_trace'})
            for pid in others():
                attempt(pid, lambda: os.stat(f'/proc/{pid}/cwd'))
                attempt((pid, 'mounts'), lambda: ctypes.CDLL(None).setns(os.pidfd_open(pid), 0x20000) == 0)
        """),
    ),
    Attack(
        "watches_it",
        "has the kernel tell it, or signal others, when files change",
        tries("""
            import ctypes, fcntl, os
            libc = ctypes.CDLL(None)
            held = os.open('.', os.O_RDONLY)
            attempt('inotify', lambda: libc.inotify_init1(0))
            attempt('fanotify', lambda: libc.fanotify_init(0, 0))
            attempt('dnotify', lambda: fcntl.fcntl(held, fcntl.F_NOTIFY, 2) == 0)
            file = os.open('kit_attack', os.O_CREAT | os.O_RDONLY)
            attempt('lease', lambda: fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_RDLCK) == 0)
            attempt('owner', lambda: fcntl.fcntl(file, fcntl.F_SETOWN, os.getppid()) == 0)
        """),
    ),
]
