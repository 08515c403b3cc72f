"""Files that hold secrets, which only their owner may use."""

import os
import stat
from pathlib import Path

from rag.errors import RagError

MOST_BYTES = 1_000_000


def read_private(file: Path, what: str, *, error: type[RagError], hint: str = "check the path") -> str:
    """The text of a regular file that is ours and that nobody else may use; checks the open file, so that it cannot be
    swapped meanwhile. Raises `error`, which calls the file `what`, gives `hint` if it is unreadable, and contains none
    of its content."""
    try:
        # Without O_NONBLOCK a named pipe would block.
        with open(file, "rb", opener=lambda path, flags: os.open(path, flags | os.O_NONBLOCK)) as opened:
            status = os.fstat(opened.fileno())
            is_file = stat.S_ISREG(status.st_mode)
            content = opened.read(MOST_BYTES + 1) if is_file else b""
    except OSError as reason:
        raise error(f"cannot read {what} {file}: {reason.strerror or type(reason).__name__}", hint=hint) from None
    if not is_file:
        raise error(f"cannot read {what} {file}: it is no regular file", hint=hint)
    if stat.S_IMODE(status.st_mode) & 0o077:
        raise error(f"others may read {what} {file}", hint=f"chmod 600 {file}")
    if status.st_uid != os.getuid():
        raise error(f"{what} {file} belongs to somebody else", hint=f"chown {os.getuid()} {file}")
    if len(content) > MOST_BYTES:
        raise error(f"cannot read {what} {file}: it has more than {MOST_BYTES:,} bytes", hint=hint)
    # No codec error, which would hold the bytes.
    text = content.decode("utf-8", errors="replace")
    if text.encode() != content:
        raise error(f"cannot read {what} {file}: it is not UTF-8", hint=hint)
    return text
