"""`autograder cluster`."""

from __future__ import annotations

import logging
import os
import signal
import threading
from pathlib import Path

import click

from autograder.cli.setting import Setting
from autograder.cluster.jobs import cores
from autograder.cluster.keys import Keys
from autograder.grading import GradingError

LOOK_EVERY = 2
"""Seconds between two looks at whether all workers are there."""

LOST_AFTER = "10s"
"""Time after which a worker that has not come back makes room for another one."""


def run(course: Path | None, workers: int | None, port: int, tls: Keys | None) -> None:
    """Run a scheduler and workers on this machine until they are stopped."""
    setting = Setting.find(course)
    try:
        import dask
        from distributed import LocalCluster
    except ImportError:
        raise GradingError("a cluster needs dask.distributed: pip install 'autograder[cluster]'") from None
    os.chdir(setting.files.root)  # where workers look for the course
    count = workers or cores()
    dask.config.set({"distributed.deploy.lost-worker-timeout": LOST_AFTER})
    is_over = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: is_over.set())
    with LocalCluster(
        n_workers=count,
        threads_per_worker=1,
        processes=True,
        host="127.0.0.1",
        scheduler_port=port,
        scheduler_kwargs={"dashboard": False, "dashboard_address": "127.0.0.1:0"},  # not 8787, which may be taken
        memory_limit=0,
        silence_logs=logging.ERROR,
        preload=["autograder.cluster.deaf"],
        security=tls.security() if tls else None,
    ) as local:
        click.echo(f"autograder grade ASSIGNMENT PATHS --scheduler {local.scheduler_address}", err=True)
        click.echo("Ctrl-C ends the cluster", err=True)
        while not is_over.wait(LOOK_EVERY):
            local.scale(count)  # dask starts a worker anew that was ended, and gives it up if it does not come back
