"""compose.yaml and the Dockerfile: what they say is valid, and their commands of the program run as processes, over a
Milvus server that the tests start. Containers are not built here."""

import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

from rag.settings import ENVIRONMENT_PREFIX, Settings, StoreName, load_settings
from tests.paths import ROOT
from tests.rag.library import DOCUMENTS
from tools.lock import LOCKS
from tools.milvus_server import MilvusServer
from tools.server_process import running

COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
OURS = [name for name, service in SERVICES.items() if f"{ENVIRONMENT_PREFIX}STORE" in service["environment"]]
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")
VARIABLE = re.compile(r"\$\{(\w+):\?[^}]*\}")
BIN = Path(sys.executable).parent
USER, KEY = "anna:secret", "laptop-" + "k" * 30
PORTS = {"page": "8093", "api": "0"}


def test_compose_keeps_the_schema_of_the_compose_specification() -> None:
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.compose-spec", "compose.yaml"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_hadolint_finds_nothing_in_the_dockerfile() -> None:
    done = subprocess.run([BIN / "hadolint", "Dockerfile"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_images_have_versions() -> None:
    images = [service["image"] for service in SERVICES.values() if "build" not in service]
    images += re.findall(r"^FROM (\S+)", DOCKERFILE, re.M)
    assert [image for image in images if not re.search(r":\S*\d+\.\d+|:RELEASE\.\d{4}", image)] == []


def test_what_services_name_is_there() -> None:
    for name, service in SERVICES.items():
        assert {*service.get("depends_on", ())} <= {*SERVICES}, name
        assert {*service.get("secrets", ())} <= {*COMPOSE["secrets"]}, name
        volumes = {volume.partition(":")[0] for volume in service.get("volumes", ())}
        assert {volume for volume in volumes if not volume.startswith(".")} <= {*COMPOSE["volumes"]}, name


def test_what_runs_parsers_reaches_neither_etcd_nor_minio() -> None:
    reached = {name: {*service.get("networks", ["default"])} for name, service in SERVICES.items()}
    assert COMPOSE["networks"]["store"]["internal"]
    for name in ("etcd", "minio"):
        assert {other for other, networks in reached.items() if networks & reached[name]} == {"milvus", "etcd", "minio"}
    assert "default" in reached["milvus"]


def test_the_image_has_all_that_is_installed_at_locked_versions() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    copied = {word for line in re.findall(r"^COPY (.+) \S+$", DOCKERFILE, re.M) for word in line.split()}
    assert {"pyproject.toml", "rag", "ingest", "corpus", project["readme"], *project["license-files"]} <= copied
    assert {word for word in copied if not (ROOT / word).exists()} == set()
    sent = re.findall(r"^!(\S+)", (ROOT / ".dockerignore").read_text(encoding="utf-8"), re.M)
    assert {*sent} == copied
    found = re.search(r"^ARG EXTRAS=(\S+)", DOCKERFILE, re.M)
    assert found
    assert {*found[1].split(",")} <= {*LOCKS["requirements-dev.lock"]}


@pytest.mark.parametrize("name", OURS)
def test_the_environment_of_a_service_is_settings(name: str) -> None:
    settings = load_settings(environment=environment_of(name, "http://milvus:19530"))
    assert settings.store is StoreName.MILVUS
    assert settings.milvus_token.get_secret_value() == "root:MILVUS_PASSWORD-of-tests"


def environment_of(name: str, uri: str) -> dict[str, str]:
    values = {key: VARIABLE.sub(r"\1-of-tests", value) for key, value in SERVICES[name]["environment"].items()}
    assert all(key.startswith(ENVIRONMENT_PREFIX) for key in values)
    return values | {f"{ENVIRONMENT_PREFIX}MILVUS_URI": uri}


@pytest.fixture(scope="module")
def secrets(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("secrets")
    for name, line in (("users", USER), ("keys", f"laptop:{KEY}")):
        (folder / name).touch(mode=0o600)
        (folder / name).write_text(f"{line}\n", encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def uri(tmp_path_factory: pytest.TempPathFactory, secrets: Path, model_settings: Settings) -> Iterator[str]:
    """The address of a Milvus server that holds what the service `ingest` made of some notes."""
    pytest.importorskip("milvus_lite", reason="needs the extra `milvus` and milvus-lite")
    folder = tmp_path_factory.mktemp("deploy")
    notes = folder / "notes"
    notes.mkdir()
    for name, text in DOCUMENTS.items():
        (notes / name).write_text(text, encoding="utf-8")
    server = MilvusServer(folder / "milvus")
    server.start()
    try:
        command, environment = process_of("ingest", server.uri, secrets)
        done = subprocess.run([*command, notes], cwd=folder, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        yield server.uri
    finally:
        server.kill()


def process_of(name: str, uri: str, secrets: Path) -> tuple[list[str], dict[str, str]]:
    """The command of a service and its environment, with the files and the server of these tests."""
    assert 'ENTRYPOINT ["interview-rag"]' in DOCKERFILE
    place = f"{secrets}/"
    words = [word.replace("/run/secrets/", place) for word in SERVICES[name]["command"]]
    own = {key: value.replace("/run/secrets/", place) for key, value in environment_of(name, uri).items()}
    return [sys.executable, "-m", "rag.ui.app.program", *words], {**os.environ, "PYTHONPATH": str(ROOT), **own}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["page", "api"])
def test_a_server_gets_ready_and_answers_whom_it_knows(name: str, uri: str, secrets: Path, tmp_path: Path) -> None:
    command, environment = process_of(name, uri, secrets)
    inside = command[command.index("--port") + 1]
    with running([*command, "--port", PORTS[name]], folder=tmp_path, environment=environment) as server:
        base = server.address.removesuffix("/").removesuffix("/v1")
        check = SERVICES[name]["healthcheck"]["test"][-1]
        assert f"http://127.0.0.1:{inside}/readyz" in check
        subprocess.run([sys.executable, "-c", check.replace(f"http://127.0.0.1:{inside}", base)], check=True)
        with httpx.Client(base_url=base, trust_env=False, timeout=60) as client:
            assert client.get("/healthz").json() == {"status": "ok"}
            assert client.get("/readyz").json()["generation"] == "000001"
            question = {"question": "LoRA 的秩怎么选？"}
            assert [client.get("/metrics").status_code, client.post("/v1/ask", json=question).status_code] == [401, 401]
            asked = client.post("/v1/ask", json=question, headers={"Authorization": f"Bearer {KEY}"}).json()
            assert asked["citations"]
