"""Joins a Ray cluster, or starts one on this machine for as long as needed."""

import logging
import os
import secrets
import shutil
import signal
import socket
import tempfile
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from rag.errors import IngestError, SettingsError

# An open port is detected in milliseconds.
CONNECT_SECONDS = 5.0
# For files on their way to the workers and their results; allocated on use.
OBJECT_STORE_BYTES = 512 << 20
RAY_SETTINGS = {
    # It would report a worker's death on stdout, where results belong. This drops every such line.
    "RAY_DEDUP_LOGS_SKIP_REGEX": ".",
    # Its workers would yield to every other process on the machine, by 15 steps.
    "RAY_worker_niceness": "0",
}
# A socket's path may have 107 characters, and Ray adds 60 to its folder's.
SHORT_FOLDER = Path("/tmp")
# A container's microseconds of processor time per period, and those of the period.
QUOTA = Path("/sys/fs/cgroup/cpu.max")
ONE_RUN = threading.Lock()


def import_ray() -> Any:
    """The library, set to report to nobody and print nothing. Raises SettingsError if it is not installed."""
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    for name, value in RAY_SETTINGS.items():
        os.environ.setdefault(name, value)
    try:
        import ray
    except ImportError as error:
        raise SettingsError("`workers` is ray, which needs Ray", hint='pip install "interview-rag[ray]"') from error
    logging.getLogger("ray").setLevel(logging.ERROR)
    return ray


def own_cores() -> int:
    """Processors that this process may use; in a container, those of its quota."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    with suppress(OSError, ValueError):  # no such file, or it says max
        quota, period = map(int, QUOTA.read_text(encoding="ascii").split())
        cores = min(cores, max(1, quota // period))
    return cores


@contextmanager
def joined(address: str, workers: int) -> Iterator[Any]:
    """Ray, connected; stops at the end what it started. `workers` is for a cluster on this machine.

    One run of this process at a time; a program already in a cluster stays in it. Raises IngestError or SettingsError.
    """
    ray = import_ray()
    with ONE_RUN:
        if ray.is_initialized():
            yield ray
            return
        with _folder() as folder, _same_handler_of_sigterm():
            try:
                if address:
                    _require_listener(address)
                    _join(ray, address)
                else:
                    _start(ray, workers, folder)
                yield ray
            finally:
                ray.shutdown()


def _start(ray: Any, workers: int, folder: Path) -> None:
    # Access to a cluster's ports means running code in it, so Ray wants a token; it would leave one in the home folder.
    if "RAY_AUTH_TOKEN_PATH" not in os.environ:
        os.environ.setdefault("RAY_AUTH_TOKEN", secrets.token_hex(32))
    try:
        ray.init(
            "local",
            num_cpus=workers,
            num_gpus=0,
            include_dashboard=False,
            log_to_driver=False,
            configure_logging=False,
            object_store_memory=OBJECT_STORE_BYTES,
            _temp_dir=str(folder),
        )
    except Exception as error:  # Ray raises no other where a process of its own is slow to start
        raise IngestError(
            f"a Ray cluster could not be started on this machine: {' '.join(str(error).split())[:400]}",
            hint='run the command again when the machine is less busy, or set `workers = "local"`',
        ) from error


def _join(ray: Any, address: str) -> None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what is wrong is raised as well
            ray.init(address, log_to_driver=False, configure_logging=False)
    except Exception as error:  # of a dozen kinds, among them those of gRPC and plain ones
        raise IngestError(
            f"the Ray cluster at {address} cannot be joined: {' '.join(str(error).split())[:400]}",
            hint="`ray_address` is ray://host:port (10001 unless set) from any machine, and host:port from one that "
            "belongs to the cluster; both sides need the same versions of Python and Ray, and where the cluster has a "
            "token, that token and RAY_AUTH_MODE=token",
        ) from error


def _require_listener(address: str) -> None:
    """Ray itself would retry for minutes."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=CONNECT_SECONDS).close()
    except (OSError, OverflowError, UnicodeError) as error:  # the latter two: of what no port and no host can be
        raise IngestError(
            f"no Ray cluster answers at {address}: {error}",
            hint="start it (ray start --head), check `ray_address` and the way to that port, or leave `ray_address` "
            "empty for a cluster of this machine",
        ) from error


@contextmanager
def _folder() -> Iterator[Path]:
    """For logs and sockets of a cluster on this machine."""
    folder = Path(
        tempfile.mkdtemp(prefix=f"rag-ray-{os.getpid()}-", dir=SHORT_FOLDER if SHORT_FOLDER.is_dir() else None)
    )
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)  # a process that is ending may still write


@contextmanager
def _same_handler_of_sigterm() -> Iterator[None]:
    """Ray would replace it."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.getsignal(signal.SIGTERM)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
