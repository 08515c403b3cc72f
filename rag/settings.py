"""Settings: one file, overridden by environment variables, overridden by options.

Unknown keys and values out of range are errors that name the key, the value and what is allowed, so that a typo fails
at once instead of being ignored.
"""

import os
import tomllib
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any

from platformdirs import user_cache_path
from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError
from pydantic.fields import FieldInfo

from rag.errors import SettingsError
from rag.paths import PROGRAM

ENVIRONMENT_PREFIX = "INTERVIEW_RAG_"
# Variables with our prefix that belong to the tests and benchmarks, not to the program.
FOREIGN_VARIABLES = frozenset({"SEEDS", "BENCH"})
SECRETS = ("endpoint_key", "milvus_token")
FILE_NAME = "interview-rag.toml"


class ChatModelName(StrEnum):
    AUTO = "auto"
    EXTRACTIVE = "extractive"
    LOCAL = "local"
    OLLAMA = "ollama"
    ENDPOINT = "endpoint"


class AgentMode(StrEnum):
    OFF = "off"
    AUTO = "auto"
    """For questions whose first search is doubtful, or that need several."""


class Precision(StrEnum):
    AUTO = "auto"
    FLOAT32 = "float32"
    BFLOAT16 = "bfloat16"


class ReaderUse(StrEnum):
    AUTO = "auto"
    OFF = "off"


class StoreName(StrEnum):
    EMBEDDED = "embedded"
    MILVUS = "milvus"


class WorkersName(StrEnum):
    LOCAL = "local"
    RAY = "ray"


class IndexEffect(StrEnum):
    """The effect of changing a setting on an existing index."""

    REBUILD = "rebuild"
    COMPATIBLE = "compatible"
    """It would have been made differently, and can be used and brought in line as it is."""


def default_models_folder() -> Path:
    """The user's cache folder; `$XDG_CACHE_HOME` counts on every platform."""
    cache = os.environ.get("XDG_CACHE_HOME")
    return (Path(cache) if cache else user_cache_path(appname=None, appauthor=False)) / "interview-rag" / "models"


def _shapes_index(default: Any, *, description: str, **limits: Any) -> Any:
    """A field on which passages or vectors depend. Only this function says so: see `index_settings`."""
    return Field(
        default,
        description=f"{description}; changing it requires re-ingesting",
        json_schema_extra={"index": IndexEffect.REBUILD},
        **limits,
    )


class Settings(BaseModel):
    """All settings, with defaults and meanings."""

    # Inputs are hidden because one is a key, and a traceback shows the whole chain of errors.
    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    index: Path = Field(Path(".interview-rag/index"), description="folder of the index")
    store: StoreName = Field(
        StoreName.EMBEDDED,
        description="where the index is searched: in its folder, or in a Milvus server, of which the folder is then "
        "the writer's working copy; needs the extra `milvus` (docs/scale.md)",
    )
    milvus_uri: str = Field(
        "",
        description="address of the Milvus server, such as http://localhost:19530 (https: TLS), or a file whose name "
        "ends in .db for milvus-lite inside this process",
    )
    milvus_token: SecretStr = Field(
        SecretStr(""),
        description="user:password or key of the Milvus server; set INTERVIEW_RAG_MILVUS_TOKEN, for a settings file "
        "that holds it must be readable by its owner only (mode 0600)",
    )
    milvus_certificate: Path | None = Field(
        None, description="PEM file of the authority that signed the certificate of the Milvus server"
    )
    milvus_database: str = Field("", description="database in the Milvus server; unset: its default")
    milvus_prefix: str = Field(
        "interview_rag",
        pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,99}$",
        description="what the names of the collections begin with; one index for each",
    )
    milvus_timeout: float = Field(10.0, gt=0, le=600, description="seconds to wait for the Milvus server")
    milvus_grace: float = Field(
        300.0, ge=0, le=86_400, description="seconds for which readers may go on with a generation that was replaced"
    )
    workers: WorkersName = Field(
        WorkersName.LOCAL,
        description="who reads and embeds documents: the process that ingests, or actors of a Ray cluster; needs the "
        "extra `ray` (docs/scale.md)",
    )
    ray_address: str = Field(
        "",
        pattern=r"^((ray://)?[^@/\s]+:[0-9]{1,5})?$",
        description="the Ray cluster: ray://host:port from any machine, host:port from one that belongs to it; unset: "
        "one of this machine, started for the run",
    )
    ray_workers: int | None = Field(
        None, ge=1, le=10_000, description="actors that read and embed, a processor each; unset: one for each processor"
    )
    data: Path = Field(
        Path(".interview-rag/user"),
        description="folder of conversations, feedback, measurements, and of the chat model set up on the page",
    )
    models: Path = Field(default_factory=default_models_folder, description="folder of the fetched models")
    embedder: str = _shapes_index(
        "multilingual-e5-small",
        min_length=1,
        description="a pinned model, a local sentence-transformers folder, or a hub name",
    )
    precision: Precision = Field(
        Precision.AUTO,
        description="what the embedder computes in; auto: 8-bit whole numbers for the default one, bfloat16 for "
        "others, where the processor is made for it, else float32",
        json_schema_extra={"index": IndexEffect.COMPATIBLE},
    )
    passage_tokens: int = _shapes_index(320, ge=64, le=480, description="budget of a passage in cl100k_base tokens")
    late_interaction: bool = _shapes_index(
        True,
        description="keep the vectors of all tokens, some 15 kB a passage, which rank better than those of passages",
    )
    reader: ReaderUse = Field(
        ReaderUse.AUTO,
        description="whether the small model that reads question and text together gives a second opinion on doubtful "
        "questions, where there is one for the embedder",
    )
    top_k: int = Field(10, ge=1, le=100, description="passages that a search returns")
    llm: ChatModelName = Field(ChatModelName.AUTO, description="who writes answers")
    agent: AgentMode = Field(
        AgentMode.OFF,
        description="whether a chat model that can call tools may search again, read pages and calculate; auto: for "
        "questions whose first search is doubtful, or that need several",
    )
    endpoint_url: str = Field(
        "", description="base URL of an OpenAI-compatible endpoint, such as http://localhost:8000/v1"
    )
    endpoint_model: str = Field("", description="model name to ask that endpoint for")
    endpoint_key: SecretStr = Field(
        SecretStr(""),
        description="key of the endpoint; set INTERVIEW_RAG_ENDPOINT_KEY, for a settings file that holds it must be "
        "readable by its owner only (mode 0600)",
    )
    endpoint_key_file: Path | None = Field(
        None, description="file that holds the key of the endpoint and is readable by its owner only (mode 0600)"
    )
    endpoint_timeout: float = Field(60.0, gt=0, le=600, description="seconds to wait for the endpoint")
    host: str = Field("127.0.0.1", min_length=1, description="address the web UI binds to")
    port: int = Field(7860, ge=1, le=65535, description="first port the web UI tries")
    api: bool = Field(False, description="whether the page's server answers the HTTP API at /v1 too (docs/api.md)")
    api_key_file: Path | None = Field(
        None, description="who may use that API, lines name:key (mode 0600); needed where the page asks to sign in"
    )
    max_file_megabytes: int = Field(
        64,
        ge=1,
        le=4096,
        description="documents larger than this are refused",
        json_schema_extra={"index": IndexEffect.COMPATIBLE},
    )
    library: Path = Field(
        Path(".interview-rag/library"), description="folder of the documents that readers add on the page"
    )
    uploads: bool | None = Field(
        None,
        description="whether readers may add and remove documents on the page, switch automatic updates and set up the "
        "chat model, which beyond this machine is everyone who may sign in; unset: only where the page is open to this "
        "machine alone",
    )
    results: Path | None = Field(
        None, description="folder of evaluation results that the page shows; unset: docs/results of the program"
    )
    gold: Path | None = Field(None, description="gold file that the page evaluates on; unset: the program's own")
    ocr: bool = _shapes_index(False, description="recognise the text of scanned PDF pages; needs the extra `ocr`")


def index_settings(settings: Settings, *effects: IndexEffect) -> dict[str, Any]:
    """The settings with one of these effects on an index, as JSON."""
    fields = type(settings).model_fields.items()
    names = {name for name, field in fields if (_extra(field).get("index") in effects)}
    return settings.model_dump(mode="json", include=names)


def rebuild_settings(settings: Settings, identity: str) -> dict[str, Any]:
    """The settings that a reusable index must have; the embedder by its identity, wherever it lies."""
    return index_settings(settings, IndexEffect.REBUILD) | {"embedder": identity}


def _extra(field: FieldInfo) -> Mapping[str, Any]:
    return field.json_schema_extra if isinstance(field.json_schema_extra, dict) else {}


def load_settings(
    config: Path | None = None,
    *,
    options: Mapping[str, Any] | None = None,
    environment: Mapping[str, str] | None = None,
) -> Settings:
    """Read the settings file (`config`, else that of `settings_file`), the environment, and `options`.

    Options with value None were not given. Raises SettingsError.
    """
    environment = os.environ if environment is None else environment
    values = _from_file(config) | _from_environment(environment)
    values |= {key: value for key, value in (options or {}).items() if value is not None}
    try:
        return Settings.model_validate(values)
    except ValidationError as error:
        raise _explain(error) from error


def settings_file() -> Path | None:
    """`interview-rag.toml` in the current directory, else beside the program; None if there is neither."""
    return next((file for folder in (Path(), PROGRAM) if (file := folder / FILE_NAME).is_file()), None)


def stated_in(key: str) -> str:
    """What to look for to change a setting: its variable if that is set, else its name."""
    variable = f"{ENVIRONMENT_PREFIX}{key.upper()}"
    return variable if variable in os.environ else key


def _from_file(config: Path | None) -> dict[str, Any]:
    file = config or settings_file()
    if file is None:
        return {}
    if not file.is_file():
        raise SettingsError(f"settings file not found: {config}", hint="check the path given with --config")
    try:
        with file.open("rb") as opened:
            mode = os.fstat(opened.fileno()).st_mode
            values = tomllib.loads(opened.read().decode("utf-8-sig"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise SettingsError(
            f"cannot read the settings file {file}: {error}", hint="it must be UTF-8 TOML, one `key = value` a line"
        ) from error
    secret = next((name for name in SECRETS if values.get(name)), None)
    if secret and mode & 0o077:
        raise SettingsError(
            f"the settings file {file} holds `{secret}` and can be read by others",
            hint=f"chmod 600 {file}, or set {ENVIRONMENT_PREFIX}{secret.upper()} instead",
        )
    return values


def _from_environment(environment: Mapping[str, str]) -> dict[str, str]:
    values = {}
    for name, value in environment.items():
        if name.startswith(ENVIRONMENT_PREFIX):
            key = name.removeprefix(ENVIRONMENT_PREFIX)
            if key not in FOREIGN_VARIABLES:
                values[key.lower()] = value
    return values


def _explain(error: ValidationError) -> SettingsError:
    first = error.errors()[0]
    key = ".".join(str(part) for part in first["loc"])
    if first["type"] == "extra_forbidden":
        return SettingsError(
            f"unknown setting {key!r}", hint="known settings: " + ", ".join(sorted(Settings.model_fields))
        )
    shown = "(hidden)" if key in SECRETS else repr(first["input"])
    return SettingsError(
        f"setting {key!r} cannot be {shown}: {first['msg']}", hint=Settings.model_fields[key].description or ""
    )
