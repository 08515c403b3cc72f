"""Files that hold secrets: whatever is wrong with one, the error names the way out and nothing of what is in it."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from rag.chat_models.endpoint import endpoint_key
from rag.errors import RagError, SettingsError, UsageError
from rag.private_files import MOST_BYTES
from rag.server.keys import read_keys
from rag.settings import Settings
from rag.ui.app.launch import read_users

SECRET = "3q2-7wEjRr0s9n4mXr8kZ1c5vT6b"
READERS: list[tuple[Callable[[Path], object], type[RagError]]] = [
    (read_users, UsageError),
    (read_keys, UsageError),
    (lambda file: endpoint_key(Settings(endpoint_key_file=file)), SettingsError),
]


@pytest.fixture
def private(tmp_path: Path) -> Path:
    file = tmp_path / "private"
    file.write_text(f"anna:{SECRET}\n", encoding="utf-8")
    file.chmod(0o600)
    return file


@pytest.mark.parametrize(("read", "kind"), READERS)
class TestEachReader:
    def refused(self, read: Callable[[Path], object], kind: type[RagError], file: Path) -> RagError:
        with pytest.raises(kind) as caught:
            read(file)
        error = caught.value
        assert SECRET not in f"{error.message} {error.hint} {error.__cause__!r} {error.__context__!r}"
        assert str(file) in error.message
        assert error.hint
        return error

    def test_what_is_not_text(self, read: Callable[[Path], object], kind: type[RagError], private: Path) -> None:
        private.write_bytes(SECRET.encode() + b"\xff")
        assert "it is not UTF-8" in self.refused(read, kind, private).message

    def test_what_others_may_use(self, read: Callable[[Path], object], kind: type[RagError], private: Path) -> None:
        for mode in (0o640, 0o604, 0o620, 0o601):
            private.chmod(mode)
            assert self.refused(read, kind, private).hint == f"chmod 600 {private}"

    def test_what_belongs_to_somebody_else(
        self, read: Callable[[Path], object], kind: type[RagError], private: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(os, "getuid", lambda: private.stat().st_uid + 1)
        error = self.refused(read, kind, private)
        assert "somebody else" in error.message
        assert error.hint.startswith("chown ")

    def test_what_is_no_file_of_a_sensible_size(
        self, read: Callable[[Path], object], kind: type[RagError], private: Path
    ) -> None:
        pipe = private.with_name("pipe")
        os.mkfifo(pipe, 0o600)  # nobody writes to it
        assert "no regular file" in self.refused(read, kind, pipe).message
        assert "Is a directory" in self.refused(read, kind, private.parent).message
        private.write_text(SECRET * (MOST_BYTES // len(SECRET) + 1), encoding="utf-8")
        assert "more than" in self.refused(read, kind, private).message

    def test_what_is_not_there(self, read: Callable[[Path], object], kind: type[RagError], private: Path) -> None:
        assert "No such file" in self.refused(read, kind, private.with_name("none")).message


def test_a_key_is_not_cut_short(private: Path) -> None:
    """As much of it as may be a key would have been sent before."""
    private.write_text("k" * 10_001, encoding="utf-8")
    with pytest.raises(SettingsError, match="holds no key"):
        endpoint_key(Settings(endpoint_key_file=private))
