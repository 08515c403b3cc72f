"""Drops the rights of a process that parses untrusted files. Skips each part that the platform lacks."""

import ctypes
import os
import resource
import sys
import sysconfig
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

MAX_OPEN_FILES = 64
# <linux/landlock.h>: rights to files up to version 1 of the interface, and those to read; to TCP from version 4 on.
FILE_RIGHTS = (1 << 13) - 1
READ_RIGHTS = 1 << 2 | 1 << 3
TCP_RIGHTS = 0b11
CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
PATH_BENEATH = 1
SET_NO_NEW_PRIVILEGES = 38
NEW_USER_NAMESPACE, NEW_NETWORK_NAMESPACE = 0x10000000, 0x40000000
FORBIDDEN = (
    "socket.", "subprocess.", "os.exec", "os.fork", "os.posix_spawn", "os.spawn", "os.system", "os.kill",
    "os.remove", "os.rename", "os.mkdir", "os.rmdir", "os.link", "os.symlink", "os.truncate", "os.chmod", "os.chown",
    "os.putenv", "os.unsetenv", "pty.", "shutil.", "tempfile.", "sqlite3.", "ctypes.dlopen", "urllib.", "ftplib.",
    "http.", "smtplib.", "webbrowser.",
)  # fmt: skip


def confine(memory_bytes: int, load: Callable[[], None] | None = None) -> None:
    """Permanently give up files, network, other programs, and memory above this limit.

    Calls `load` in between: after the kernel has taken the rights, also from threads that start later, and before
    Python refuses what loading a library may do.
    """
    readable = [os.path.realpath(path) for path in _code_folders()]
    limit(resource.RLIMIT_AS, memory_bytes)
    limit(resource.RLIMIT_FSIZE, 0)
    limit(resource.RLIMIT_CORE, 0)
    limit(resource.RLIMIT_NOFILE, MAX_OPEN_FILES)
    if sys.platform == "linux":
        _leave_network()
        _leave_files(readable)
    if load is not None:
        load()
    _watch(tuple(readable))


def limit(kind: int, value: int) -> None:
    """Lower a limit of the process; macOS refuses some of them."""
    with suppress(ValueError, OSError):
        hard = resource.getrlimit(kind)[1]
        # The processor-time limit moves with each request, so only its soft value is set.
        keep = kind == resource.RLIMIT_CPU
        resource.setrlimit(kind, (value, hard if keep else value))


def _code_folders() -> set[str]:
    """Folders of Python and its libraries: modules are still imported on first use."""
    package = Path(__file__).resolve().parents[1]
    names = ("stdlib", "platstdlib", "purelib", "platlib")
    return {sysconfig.get_path(name) for name in names} | {str(package), str(package.with_name("rag"))}


def _leave_network() -> None:
    """A network namespace of its own has no way out. If that is not allowed, the audit hook remains."""
    ctypes.CDLL(None, use_errno=True).unshare(NEW_USER_NAMESPACE | NEW_NETWORK_NAMESPACE)


class _Ruleset(ctypes.Structure):
    _fields_ = (("files", ctypes.c_uint64), ("tcp", ctypes.c_uint64))


class _PathBeneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("rights", ctypes.c_uint64), ("folder", ctypes.c_int32))


def _leave_files(readable: list[str]) -> None:
    """Landlock: the kernel lets the process read below these folders and touch nothing else."""
    library = ctypes.CDLL(None, use_errno=True)
    version = library.syscall(CREATE_RULESET, None, 0, 1)
    if version < 1:
        return
    rules = _Ruleset(FILE_RIGHTS, TCP_RIGHTS if version >= 4 else 0)
    ruleset = library.syscall(CREATE_RULESET, ctypes.byref(rules), 16 if version >= 4 else 8, 0)
    if ruleset < 0:
        return
    for path in readable:
        with suppress(OSError):
            folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            rule = _PathBeneath(READ_RIGHTS, folder)
            library.syscall(ADD_RULE, ruleset, PATH_BENEATH, ctypes.byref(rule), 0)
            os.close(folder)
    library.prctl(SET_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    library.syscall(RESTRICT_SELF, ruleset, 0)
    os.close(ruleset)


def _watch(readable: tuple[str, ...]) -> None:
    """An audit hook: restricts what Python code can do, whatever the platform."""

    def refuse(event: str, arguments: tuple[object, ...]) -> None:
        if event == "open":
            path, _, flags = arguments
            writes = isinstance(flags, int) and flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC)
            if isinstance(path, int) or (not writes and _is_inside(path, readable)):
                return
            raise PermissionError(f"a parser may not open {path!r}")
        if event.startswith(FORBIDDEN):
            raise PermissionError(f"a parser may not do {event}")

    sys.addaudithook(refuse)


def _is_inside(path: object, folders: tuple[str, ...]) -> bool:
    if not isinstance(path, str | bytes | os.PathLike):
        return False
    real = os.path.realpath(os.fsdecode(path))
    return any(real.startswith(folder + os.sep) for folder in folders)
