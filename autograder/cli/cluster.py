"""`autograder cluster`."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import click

from autograder.cli.setting import Setting
from autograder.cluster.jobs import cores
from autograder.cluster.keys import Keys
from autograder.grading import GradingError


def run(course: Path | None, workers: int | None, port: int, tls: Keys | None) -> None:
    """Run a scheduler and workers on this machine until they are stopped."""
    setting = Setting.find(course)
    try:
        from distributed import LocalCluster
    except ImportError:
        raise GradingError("a cluster needs dask.distributed: pip install 'autograder[cluster]'") from None
    os.chdir(setting.files.root)  # where workers look for the course
    with LocalCluster(
        n_workers=workers or cores(),
        threads_per_worker=1,
        processes=True,
        host="127.0.0.1",
        scheduler_port=port,
        scheduler_kwargs={"dashboard": False, "dashboard_address": "127.0.0.1:0"},  # not 8787, which may be taken
        memory_limit=0,
        preload=["autograder.cluster.deaf"],
        security=tls.security() if tls else None,
    ) as local:
        click.echo(f"autograder grade ASSIGNMENT PATHS --scheduler {local.scheduler_address}", err=True)
        click.echo("Ctrl-C ends the cluster", err=True)
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        try:
            while True:
                signal.pause()
        except KeyboardInterrupt:
            pass
