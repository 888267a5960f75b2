"""The zygote: a warm process that imports torch once and forks a worker per request.

It is started as a program with an empty environment and an import path that holds only the interpreter's library and
the packages a submission may use. It never reads a submission, a suite, a reference or a key: a fork has nothing to
find. Once warm it goes into namespaces where the host lets it (see `confinement`). Requests arrive on the control
socket (its descriptor is the only argument), a JSON line each; a request to fork carries the descriptors of its worker,
and the grader waits for its answer before it asks again.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import socket
import sys
from typing import Any

WORKER_SOCKET, WORKER_OUTPUT = 3, 4
READY = b"R"
"""What a worker sends before anything else: it is closed in, and has read nothing yet."""


def main() -> None:
    """Warm up, say so, then fork a worker per request until the grader closes the control socket."""
    _take_signals()
    control = socket.socket(fileno=int(sys.argv[1]))
    control.set_inheritable(False)
    settings = json.loads(control.recv(65536))
    _import_path(settings["packages"], settings["engine"])
    _end_with_parent()
    _warm(settings["also"])
    _serve(control, settings)


def _serve(control: socket.socket, settings: dict[str, Any]) -> None:
    """Be a zygote, warm as this process is: go into confinement, say so, and fork a worker per request."""
    from autograder.sandbox.confinement import shut_in
    from autograder.sandbox.footprint import Footprint
    from autograder.sandbox.reaping import end

    confinement = shut_in(settings["packages"], settings["without"])
    _end_with_parent()  # a process that went into namespaces is another one
    _become_subreaper()
    footprint = Footprint()
    _use_huge_pages()
    try:
        control.sendall(json.dumps({**_report(), **confinement.report()}).encode() + b"\n")
    except OSError:
        os._exit(0)  # the grader is gone
    live: set[int] = set()
    own_limits = _own_limits()
    while True:
        lines, descriptors, _, _ = socket.recv_fds(control, 4096, 2)
        if not lines:
            for pid in list(live):
                end(pid, live)
            os._exit(0)
        for line in lines.splitlines():
            request = json.loads(line)
            if request["do"] == "end":
                end(request["pid"], live)
                continue
            if _own_limits() != own_limits:
                os._exit(1)  # somebody changed what a fork inherits; the grader starts another zygote
            confinement.prepare_worker()
            if not settings["forks"]:
                _answer(control, os.getpid())
                _become_worker(control, descriptors, request, confinement, footprint)
            pid = _fork(control, descriptors, request, confinement, footprint)
            for descriptor in descriptors:
                os.close(descriptor)
            live.add(pid)
            _answer(control, pid)


def _take_signals() -> None:
    """As a program does by itself, whatever the one that started the grader blocks or ignores."""
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    for number in signal.valid_signals() - {signal.SIGPIPE, signal.SIGXFSZ}:  # which Python ignores
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)


def _own_limits() -> list[Any]:
    """What workers inherit and a process of the same user can change from outside."""
    limits: list[Any] = [resource.getrlimit(getattr(resource, n)) for n in dir(resource) if n.startswith("RLIMIT_")]
    if hasattr(os, "sched_getaffinity"):
        limits.append(os.sched_getaffinity(0))
    return [*limits, os.getpriority(os.PRIO_PROCESS, 0)]


def _import_path(packages: list[str], engine: str) -> None:
    """Take the engine's modules that a worker needs, then forget where they came from."""
    sys.path[:] = [p for p in sys.path if p and os.path.realpath(p) != os.path.dirname(os.path.realpath(__file__))]
    sys.path += packages
    sys.path.insert(0, engine)
    import autograder
    import autograder.sandbox
    import autograder.sandbox.confinement
    import autograder.sandbox.reaping
    import autograder.sandbox.warming
    import autograder.sandbox.worker

    sys.path.remove(engine)
    autograder.__path__ = []
    autograder.sandbox.__path__ = []
    sys.argv[:] = ["worker"]


def _warm(also: list[str]) -> None:
    """Import what submissions use, and let torch build what it builds when it is first needed."""
    import gc
    import importlib
    import site

    gc.disable()  # or it would look again and again through what the imports make
    for name in (*_WARM_MODULES, *also):
        importlib.import_module(name)
    site.setquit()  # exit() and quit(), which a program without start-up files lacks
    from autograder.sandbox.warming import warm

    warm()
    gc.collect()
    gc.freeze()
    gc.enable()


def _use_huge_pages() -> None:
    """Move the heap to huge pages where the kernel can: a fork then copies a short page table, three times faster."""
    if sys.platform != "linux":
        return
    import ctypes

    from autograder.sandbox import kernel

    madvise, size, collapse = ctypes.CDLL(None).madvise, 2 << 20, 25  # MADV_COLLAPSE, since Linux 6.1
    madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    with kernel.open_proc("self/maps") as file:
        maps = [line.split() for line in file]
    for span, rights, _, _, _, *path in maps:
        first, last = (int(address, 16) for address in span.split("-"))
        first, last = -(-first // size) * size, last // size * size
        if rights == "rw-p" and path in ([], ["[heap]"]) and first < last:
            madvise(first, last - first, collapse)


_WARM_MODULES = """
torch._dynamo torch.utils.checkpoint torch.utils.data torch.optim.lr_scheduler torch.distributions numpy abc argparse
bisect collections contextlib copy csv dataclasses datetime decimal dis difflib enum fractions functools heapq inspect
io itertools json linecache logging math operator os pathlib pprint random re statistics string struct textwrap time
traceback types typing typing_extensions unicodedata unittest warnings
""".split()


def _report() -> dict[str, str | int]:
    import torch

    from autograder.sandbox import kernel

    try:
        tasks = len(kernel.list_proc("self/task"))
    except OSError:
        tasks = 1  # a system without /proc
    if tasks != 1:
        sys.exit(f"the zygote has {tasks} threads, so forking it is not safe")
    return {"torch": torch.__version__, "python": sys.version.split()[0], "pid": os.getpid()}


def _fork(
    control: socket.socket, descriptors: list[int], request: dict[str, int], confinement: Any, footprint: Any
) -> int:
    pid = os.fork()
    if pid:
        return pid
    try:
        _become_worker(control, descriptors, request, confinement, footprint)
    except BaseException as error:
        os.write(2, str(error).encode())  # before READY the grader takes it for what stopped the worker
    os._exit(97)


def _become_worker(
    control: socket.socket, descriptors: list[int], request: dict[str, int], confinement: Any, footprint: Any
) -> None:
    """In the child: own session, own descriptors only, closed in; then serve."""
    from autograder.sandbox.worker import serve

    if os.getsid(0) != os.getpid():
        os.setsid()
    _end_with_parent()
    control.detach()
    high = [os.dup2(descriptor, 60 + i, inheritable=False) for i, descriptor in enumerate(descriptors)]
    for source, target in zip((high[1], high[1], high[0], high[1]), (1, 2, WORKER_SOCKET, WORKER_OUTPUT), strict=True):
        os.dup2(source, target, inheritable=False)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
    confinement.close_in(request["memory_mb"], request["cpu_seconds"], request["scratch_mb"])
    if request["scratch_mb"]:
        footprint.renew_settings()
    os.closerange(5, 4096)
    confinement.close_off(request["scratch_mb"])
    os.write(WORKER_SOCKET, READY)
    serve(WORKER_SOCKET, WORKER_OUTPUT, request["output_bytes"], footprint)


def _answer(control: socket.socket, pid: int) -> None:
    """Tell the grader the worker's pid, with a pidfd where there is one (it cannot be mistaken for another process)."""
    line = json.dumps({"pid": pid}).encode() + b"\n"
    if not hasattr(os, "pidfd_open"):
        control.sendall(line)
        return
    descriptor = os.pidfd_open(pid)
    socket.send_fds(control, [line], [descriptor])
    os.close(descriptor)


def _become_subreaper() -> None:
    """Inherit the orphans of dead workers, so that they can be ended too."""
    _prctl(36)  # PR_SET_CHILD_SUBREAPER


def _end_with_parent() -> None:
    """Ask to be killed when the parent process dies."""
    _prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


def _prctl(option: int, value: int = 1) -> None:
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


if __name__ == "__main__":
    main()
