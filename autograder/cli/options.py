"""Options that several commands have."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from autograder.sandbox.levels import REQUIRABLE


def text(argument: str) -> str:
    """Words from the command line, which come as escaped bytes where the terminal's encoding cannot read them."""
    return os.fsencode(argument).decode("utf-8", "replace")


with_paths = click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
with_roster = click.option(
    "--roster", type=click.Path(path_type=Path), help="CSV with student_id,name: one row per student in it."
)
with_store = click.option("--store", metavar="URL", help="Database of receipts (default: .autograder/receipts.sqlite).")
with_required_isolation = click.option(
    "--require-isolation",
    type=click.Choice(REQUIRABLE),
    help="Grade nothing where less stands between student code and this machine (see `autograder doctor`).",
)

_FILE = click.Path(path_type=Path, exists=True, dir_okay=False)


def with_tls(command: Callable[..., None]) -> Callable[..., None]:
    """The files for TLS, named as dask names them; all three or none."""

    @click.option("--tls-ca-file", type=_FILE, help="TLS: certificate of the authority, PEM.")
    @click.option("--tls-cert", type=_FILE, help="TLS: certificate of this side, PEM.")
    @click.option("--tls-key", type=_FILE, help="TLS: private key of this side, PEM.")
    @functools.wraps(command)
    def run(
        *arguments: Any, tls_ca_file: Path | None, tls_cert: Path | None, tls_key: Path | None, **options: Any
    ) -> None:
        from autograder.cluster.keys import Keys

        keys = None
        if tls_ca_file and tls_cert and tls_key:
            keys = Keys(tls_ca_file, tls_cert, tls_key)
        elif tls_ca_file or tls_cert or tls_key:
            raise click.UsageError("TLS takes all of --tls-ca-file, --tls-cert and --tls-key")
        command(*arguments, tls=keys, **options)

    return run
