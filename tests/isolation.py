"""Tests see nothing of whoever runs them: no cache, no settings, no keys, no proxies. Child processes inherit that."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rag.settings import ENVIRONMENT_PREFIX
from tests.paths import ROOT

# The models that tests fetch. It outlives a run, so that the next one need not fetch again; `make clean` removes it.
MODELS = ROOT / ".test-cache" / "models"

_KEPT = {f"{ENVIRONMENT_PREFIX}SEEDS", f"{ENVIRONMENT_PREFIX}BENCH"}
_PERSONAL_PREFIXES = (ENVIRONMENT_PREFIX, "XDG_", "HF_", "OPENAI_", "OLLAMA_", "LANGCHAIN_", "LANGSMITH_", "GRADIO_")

_machine: dict[str, str] = {}


def is_personal(name: str) -> bool:
    """Whether an environment variable says something about the user that a test must not depend on."""
    return name not in _KEPT and (name.startswith(_PERSONAL_PREFIXES) or name.lower().endswith("_proxy"))


def isolate(home: Path) -> None:
    """Give this process and its children `home`, an empty folder, and the models of the tests."""
    _machine.update(os.environ)
    for name in filter(is_personal, list(os.environ)):
        del os.environ[name]
    os.environ["HOME"] = str(home)
    os.environ["INTERVIEW_RAG_MODELS"] = str(MODELS)
    # Some 80 programs are started, and each worker imports all tests: they are compiled once, into the checkout.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.dont_write_bytecode = False
    # What tests start must not ask whatever chat model this machine has.
    os.environ["INTERVIEW_RAG_LLM"] = "extractive"


@contextmanager
def the_machine() -> Iterator[None]:
    """Within it the environment is the user's, whose pip knows the way to a package index."""
    isolated = dict(os.environ)
    _replace_environment(_machine)
    try:
        yield
    finally:
        _replace_environment(isolated)


def _replace_environment(variables: dict[str, str]) -> None:
    os.environ.clear()
    os.environ.update(variables)
