"""On a dask cluster: the receipts of this machine, whatever becomes of its workers; and who gets no work."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

import pytest
from command_line import COMMAND
from grading import ROOT, batch, comparable, handed_in, run, small_course, solution
from killing import below
from test_cluster import Graders

from autograder.cli.cluster import LOST_AFTER
from autograder.cluster import on_dask
from autograder.cluster.nodes import courier
from autograder.grading import GradingError, Receipt
from autograder.grading.batch import Batch

distributed = pytest.importorskip("distributed", reason="the extra [cluster] is not installed")
WORK = [
    handed_in(f"{name}{copy}", {"layer_norm": source})
    for copy in range(3)
    for name, source in {
        "right": solution("layer_norm"),
        "no_eps": solution("layer_norm").replace("variance + eps", "variance"),
        "unreadable": "def layer_norm(:\n",
    }.items()
]


@pytest.fixture(scope="module")
def everybody(tmp_path_factory: pytest.TempPathFactory) -> Batch:
    return batch(WORK, root=small_course(tmp_path_factory.mktemp("small")))


@pytest.fixture(scope="module")
def cluster(everybody: Batch) -> Iterator[distributed.LocalCluster]:
    """Two workers that are threads of this process, and share a grader."""
    settings = {"processes": False, "protocol": "tcp", "host": "127.0.0.1", "dashboard_address": None}
    with (
        contextlib.chdir(everybody.files.root),
        patch("autograder.cluster.nodes.program", Graders().start),
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, **settings) as local,
    ):
        yield local
        courier().close()  # it is this process's, and would live as long


def test_a_node_that_is_not_fit_gets_no_work_and_a_sentence_says_why(
    cluster: distributed.LocalCluster, everybody: Batch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(on_dask, "PATIENCE", 0.2)
    told: list[str] = []
    for change, why in (
        ({"suite_hash": "0" * 64}, "its week08 is not this run's"),
        ({"kit_version": "0.0"}, "this run's is 0.0; install the same"),
        ({"torch_version": "1.0"}, "its torch is"),
    ):
        order = replace(on_dask.Order.of(everybody), **change)
        with patch.object(on_dask.Order, "of", return_value=order), pytest.raises(GradingError, match=why):
            on_dask.grade(everybody, print, print, cluster.scheduler_address, told.append)
    assert all("gets no work" in sentence for sentence in told)
    assert len(told) == 6


def test_receipts_are_those_of_this_machine_also_when_a_worker_is_lost(
    cluster: distributed.LocalCluster, everybody: Batch
) -> None:
    here = {name: comparable(receipt) for name, receipt in run(everybody).items()}
    found: dict[str, Receipt] = {}
    told: list[str] = []

    def finished(receipts: Sequence[Receipt]) -> None:
        if not found:
            lost = next(iter(cluster.workers.values()))
            cluster.loop.add_callback(lost.close, executor_wait=False, nanny=False)
        for receipt in receipts:
            assert receipt.student not in found
            found[receipt.student] = receipt

    on_dask.grade(everybody, finished, lambda _: None, cluster.scheduler_address, told.append)
    assert {name: comparable(receipt) for name, receipt in found.items()} == here
    assert "isolation" in told[0] and "torch" in told[0]


def test_an_address_where_nobody_answers_is_named(everybody: Batch, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(on_dask, "TIMEOUT", 1)
    with pytest.raises(GradingError, match="no dask scheduler answers at"):
        on_dask.grade(everybody, print, print, "tcp://127.0.0.1:9", print)


@contextlib.contextmanager
def local_cluster(workers: int) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The command in a session of its own, as in a terminal, and the scheduler's address."""
    command = [*COMMAND, "cluster", "--workers", str(workers), "--port", "0"]
    variables = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        command, cwd=ROOT, env=variables, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        assert process.stderr is not None
        told = [process.stderr.readline() for _ in range(2)]
        assert "--scheduler tcp://127.0.0.1:" in told[0]
        try:
            yield process, told[0].split()[-1]
        finally:
            if process.poll() is None:
                process.terminate()
            process.stderr.close()


def test_ctrl_c_ends_a_cluster_with_all_its_workers_and_says_nothing_more() -> None:
    with local_cluster(2) as (process, _):
        os.killpg(process.pid, signal.SIGINT)  # a terminal sends it to all of them
        assert process.stderr is not None
        assert process.stderr.read() == ""
    assert process.returncode == 0
    for _ in range(100):  # multiprocessing's own helper is the last
        time.sleep(0.1)
        if not any(group == process.pid for group in groups()):
            return
    pytest.fail("a process of the cluster is still there after 10 s")


def test_a_worker_that_is_killed_whenever_it_starts_has_a_place_again_when_that_is_over() -> None:
    """Dask gives one up that has not come back after some time."""
    with local_cluster(1) as (process, address), distributed.Client(address, set_as_default=False) as client:
        killed: set[int] = set()
        over = time.monotonic() + float(LOST_AFTER.removesuffix("s")) + 3
        while time.monotonic() < over:
            for pid, (_, line) in below(process.pid).items():
                if "spawn_main" in line and pid not in killed:
                    time.sleep(0.3)
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGKILL)
                    killed.add(pid)
            time.sleep(0.1)
        assert len(killed) > 3
        for _ in range(40):
            time.sleep(0.5)
            if client.nthreads():
                return
    pytest.fail("there is no worker 20 s later")


def groups() -> Iterator[int]:
    """The process group of each process that is not over."""
    for entry in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            state, _, group = entry.read_text().rpartition(")")[2].split()[:3]
            if state != "Z":
                yield int(group)
