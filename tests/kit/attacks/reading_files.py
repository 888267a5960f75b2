"""Attacks that want to read files that are not theirs: suites, references, other work, secrets."""

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
        "traces_of_others",
        "looks where earlier submissions could have left something",
        tries("""
            import os, tempfile
            for folder in ('/tmp', '/dev/shm', '/var/tmp', '/run', '/dev/mqueue', '/run/lock', '.', tempfile.gettempdir(), '@HOME@'):
                attempt(folder, lambda: [n for n in os.listdir(folder) if re.search(r'kit_|\\.(py|pt|csv)$|bashrc|pymp|torch_', n)])
            attempt('history', lambda: open('@HOME@/.bashrc').read())
        """),
    ),
]
