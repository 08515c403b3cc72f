"""The endpoint set up on the page. It is stored beside the user's data, with its key in a separate file:

    DATA/chat-model.json          {"url", "model", "key_file"}
    DATA/chat-model.XXXX.key      the key alone, readable by its owner only

The key file's name is new each time, so that replacing the first file switches address and key together: a crash in
between never gives one address the key of another.
"""

import logging
import os
import secrets
from pathlib import Path

from filelock import FileLock
from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError

from rag.chat_models.endpoint import endpoint_key, is_key
from rag.chat_models.listing import check_address
from rag.chat_models.model import ChatModel
from rag.chat_models.select import open_chat_model
from rag.errors import SettingsError, UserDataError
from rag.private_files import read_private
from rag.settings import Settings

logger = logging.getLogger(__name__)

FILE = "chat-model.json"
KEY_FILES = "chat-model.*.key"
LONGEST_MODEL_NAME = 200


class KeptEndpoint(BaseModel):
    """`key_file` is a name in the same folder; empty if the endpoint needs no key."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    url: str
    model: str = Field(min_length=1, max_length=LONGEST_MODEL_NAME)
    key_file: str = Field("", pattern=r"^(chat-model\.[0-9a-f]+\.key)?$")


def read_kept(data: Path) -> KeptEndpoint | None:
    """None if nothing was set up, or if it is unreadable, which is logged."""
    file = data / FILE
    try:
        if not file.exists():
            return None
        kept = KeptEndpoint.model_validate_json(read_private(file, "the file", error=SettingsError))
        check_address(kept.url)
    except (OSError, ValidationError, SettingsError) as error:
        logger.warning("%s cannot be used: %s; set the chat model up again on the page", file, error)
        return None
    return kept


def keep(data: Path, url: str, model: str, key: str) -> None:
    """Replace the stored endpoint, atomically. Raises SettingsError for an invalid address, model name or key,
    UserDataError if it cannot be written."""
    url, model = check_address(url), model.strip()
    if not model or len(model) > LONGEST_MODEL_NAME or not model.isprintable():
        raise SettingsError("this is no name of a model", hint="choose one of the list, or type its name")
    if key and not is_key(key):
        raise SettingsError("this is no key: it has spaces or other signs that a key cannot have", hint="copy it again")
    try:
        data.mkdir(parents=True, exist_ok=True, mode=0o700)
        with FileLock(data / ".chat-model.lock"):
            name = _write_key(data, key) if key else ""
            _write(data / f"{FILE}.new", KeptEndpoint(url=url, model=model, key_file=name).model_dump_json())
            (data / f"{FILE}.new").replace(data / FILE)
            _remove_keys(data, but=name)
    except OSError as error:
        raise UserDataError(
            f"the chat model cannot be kept in {data}: {error.strerror or type(error).__name__}",
            hint="check the folder's rights and the free space on its disk",
        ) from error


def forget(data: Path) -> None:
    """Remove the endpoint and its key. Raises UserDataError."""
    try:
        (data / FILE).unlink(missing_ok=True)
        _remove_keys(data)
    except OSError as error:
        raise UserDataError(f"the chat model cannot be removed from {data}: {error.strerror}") from error


def with_kept(settings: Settings) -> Settings:
    """The settings with the stored endpoint, if they state none themselves. A key that they state belongs to the
    endpoint that they state."""
    if settings.endpoint_url or settings.endpoint_model:
        return settings
    kept = read_kept(settings.data)
    if kept is None:
        return settings
    file = (settings.data / kept.key_file).absolute() if kept.key_file else None
    stated = {"endpoint_url": kept.url, "endpoint_model": kept.model}
    return settings.model_copy(update={**stated, "endpoint_key": SecretStr(""), "endpoint_key_file": file})


def open_kept(stated: Settings) -> tuple[Settings, ChatModel | None]:
    """The settings with the endpoint set up on the page, and the chat model that they name. Ignores an endpoint that
    has become unusable, because its key is gone. Raises SettingsError or ChatModelError for what the settings
    themselves state."""
    settings = with_kept(stated)
    try:
        return settings, open_chat_model(settings)
    except SettingsError as error:
        if settings is stated:
            raise
        logger.warning("the chat model that was set up on the page cannot be used: %s", error.message)
        return stated, open_chat_model(stated)


def kept_key(settings: Settings) -> str:
    """The stored endpoint's key; empty if it has none, or the key is unreadable. Never shown to anybody."""
    kept = with_kept(settings)
    try:
        return endpoint_key(kept) if kept is not settings else ""
    except SettingsError:
        return ""


def _write_key(data: Path, key: str) -> str:
    name = f"chat-model.{secrets.token_hex(8)}.key"
    _write(data / name, key)
    return name


def _write(file: Path, content: str) -> None:
    file.unlink(missing_ok=True)  # left by an interruption
    descriptor = os.open(file, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as opened:
        opened.write(content)
        opened.flush()
        os.fsync(opened.fileno())


def _remove_keys(data: Path, *, but: str = "") -> None:
    for file in data.glob(KEY_FILES):
        if file.name != but:
            file.unlink(missing_ok=True)
