"""The endpoint that was set up on the page, as it lies on the disk."""

import stat
from pathlib import Path

import pytest
from pydantic import SecretStr

from rag.chat_models.endpoint import endpoint_key
from rag.chat_models.stored_endpoint import FILE, forget, keep, kept_key, read_kept, with_kept
from rag.errors import SettingsError, UserDataError
from rag.settings import Settings

URL, KEY = "https://api.example.com/v1", "sk-kept-and-never-shown"


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(data=tmp_path / "user")


def keys(data: Path) -> list[Path]:
    return sorted(data.glob("chat-model.*.key"))


def test_address_model_and_key_are_used_again(settings: Settings) -> None:
    assert with_kept(settings) is settings
    keep(settings.data, f"{URL}/", " big ", KEY)
    used = with_kept(settings)
    assert (used.endpoint_url, used.endpoint_model) == (URL, "big")
    assert endpoint_key(used) == kept_key(settings) == KEY
    assert KEY not in f"{used!r} {used.model_dump()}"
    assert KEY not in (settings.data / FILE).read_text()


def test_only_the_owner_can_read_what_is_kept(settings: Settings) -> None:
    keep(settings.data, URL, "big", KEY)
    assert stat.S_IMODE(settings.data.stat().st_mode) == 0o700
    for file in (settings.data / FILE, *keys(settings.data)):
        assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_an_address_that_others_may_have_written_is_not_used(
    settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    keep(settings.data, URL, "big", KEY)
    (settings.data / FILE).chmod(0o622)
    assert with_kept(settings) is settings
    assert "others may" in caplog.text


def test_another_endpoint_or_none_leaves_no_key_behind(settings: Settings) -> None:
    keep(settings.data, URL, "big", KEY)
    keep(settings.data, "http://127.0.0.1:8000/v1", "small", "")
    assert keys(settings.data) == []
    assert endpoint_key(with_kept(settings)) == ""
    keep(settings.data, URL, "big", KEY)
    forget(settings.data)
    forget(settings.data)
    assert keys(settings.data) == []
    assert with_kept(settings) is settings


def test_an_interruption_never_gives_an_address_the_key_of_another(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep(settings.data, URL, "big", KEY)

    def fail(self: Path, target: Path) -> Path:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(Path, "replace", fail)
        with pytest.raises(UserDataError, match="No space left"):
            keep(settings.data, "https://other.example/v1", "other", "sk-of-the-other")
    assert (with_kept(settings).endpoint_url, kept_key(settings)) == (URL, KEY)
    keep(settings.data, "https://other.example/v1", "other", "sk-of-the-other")
    assert kept_key(settings) == "sk-of-the-other"
    assert len(keys(settings.data)) == 1


@pytest.mark.parametrize(
    "stated", [{"endpoint_url": "http://127.0.0.1:1/v1"}, {"endpoint_model": "of-ollama"}], ids=["url", "model"]
)
def test_what_the_settings_state_wins(settings: Settings, stated: dict[str, str]) -> None:
    keep(settings.data, URL, "big", KEY)
    stating = settings.model_copy(update=stated)
    assert with_kept(stating) is stating
    assert kept_key(stating) == ""


def test_a_key_of_the_settings_is_not_sent_to_an_address_of_the_page(settings: Settings) -> None:
    keep(settings.data, URL, "big", "")
    stating = settings.model_copy(update={"endpoint_key": SecretStr("sk-of-the-environment")})
    assert endpoint_key(with_kept(stating)) == ""


@pytest.mark.parametrize(
    "content",
    ["", "{", "[]", '{"url": "file:///etc", "model": "m"}', '{"url": "http://a/v1", "model": ""}',
     '{"url": "http://a/v1", "model": "m", "key_file": "../../.ssh/id_rsa"}',
     '{"url": "http://a/v1", "model": "m", "x": 1}'],
)  # fmt: skip
def test_a_file_that_cannot_be_used_counts_as_none(
    settings: Settings, content: str, caplog: pytest.LogCaptureFixture
) -> None:
    settings.data.mkdir()
    (settings.data / FILE).write_text(content)
    (settings.data / FILE).chmod(0o600)
    assert read_kept(settings.data) is None
    assert FILE in caplog.text


@pytest.mark.parametrize(("url", "model", "key"), [
    ("ftp://a", "m", ""), (URL, " ", ""), (URL, "m" * 300, ""), (URL, "a\nb", ""),
    (URL, "m", "two words"), (URL, "m", "密钥"),
])  # fmt: skip
def test_what_is_none_is_not_kept_and_not_shown(settings: Settings, url: str, model: str, key: str) -> None:
    with pytest.raises(SettingsError) as caught:
        keep(settings.data, url, model, key)
    assert not key or key not in f"{caught.value} {caught.value.hint}"
    assert read_kept(settings.data) is None


def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "user").write_text("")
    with pytest.raises(UserDataError, match="user"):
        keep(tmp_path / "user", URL, "m", KEY)
