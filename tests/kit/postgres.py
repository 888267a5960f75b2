"""A PostgreSQL server for tests: a new cluster in a folder of its own, reached by a Unix socket, gone afterwards."""

from __future__ import annotations

import importlib
import itertools
import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

NewDatabase = Callable[[], str]
"""Makes an empty database and gives its URL."""

_QUICK = {"fsync": "off", "full_page_writes": "off", "autovacuum": "off", "shared_buffers": "16MB"}
_PATIENCE = 60.0


def programs() -> Path | None:
    """Where initdb and postgres are; Debian keeps them out of PATH."""
    found = shutil.which("initdb")
    folders = [Path(found).parent] if found else []
    folders += sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name))
    return next((folder for folder in reversed(folders) if (folder / "postgres").exists()), None)


def missing() -> str:
    """Why there can be no server here; "" where there can."""
    if sys.platform != "linux":
        return "the server of the tests is started as on Linux"
    if programs() is None:
        return "PostgreSQL is not installed (apt-get install postgresql)"
    try:
        importlib.import_module("psycopg")
    except ImportError as error:
        return str(error)
    return ""


@contextmanager
def server() -> Iterator[NewDatabase]:
    """A running server. It ends with this process, however that ends."""
    folder, bin_folder = Path(tempfile.mkdtemp(prefix="kit-pg-")), programs()
    assert bin_folder is not None
    as_user = ["setpriv", "--pdeathsig", "INT"]
    if os.geteuid() == 0:  # PostgreSQL refuses to run as root
        user = pwd.getpwnam("nobody")
        os.chown(folder, user.pw_uid, user.pw_gid)
        as_user += [f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups"]
    data, log = folder / "data", folder / "log"
    try:
        making = [
            bin_folder / "initdb",
            "-D",
            data,
            "-U",
            "kit",
            "-A",
            "trust",
            "-E",
            "UTF8",
            "--locale=C",
            "--no-sync",
        ]
        subprocess.run([*as_user, *making], check=True, stdout=subprocess.DEVNULL, cwd=folder)
        settings = {**_QUICK, "listen_addresses": "", "unix_socket_directories": str(folder)}
        options = [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
        with log.open("wb") as said:
            running = subprocess.Popen(
                [*as_user, bin_folder / "postgres", "-D", data, *options], stderr=said, cwd=folder
            )
        try:
            _wait_for(folder, running, log)
            numbers = itertools.count()
            yield lambda: _new_schema(folder, f"s{next(numbers)}")
        finally:
            running.send_signal(signal.SIGINT)
            running.wait(_PATIENCE)
    finally:
        shutil.rmtree(folder)


def _wait_for(folder: Path, running: subprocess.Popen[bytes], log: Path) -> None:
    import psycopg

    end = time.monotonic() + _PATIENCE
    while time.monotonic() < end and running.poll() is None:
        try:
            psycopg.connect(f"host={folder} user=kit dbname=postgres").close()
            return
        except psycopg.OperationalError:
            time.sleep(0.05)
    raise RuntimeError(log.read_text("utf-8", "replace"))


def _new_schema(folder: Path, name: str) -> str:
    """A schema is to a store what a database is, and made in a moment."""
    import psycopg

    with psycopg.connect(f"host={folder} user=kit dbname=postgres", autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {name}")
    return f"postgresql://kit@/postgres?host={folder}&options=-csearch_path%3D{name}"
