# make chat    set up, then open the chat in the browser
# make test    set up, then run all tests
# make check   format, lint and types
# `make help` lists the rest.

PYTHON ?= python3
VENV ?= .venv
# Extra arguments for pip, such as --extra-index-url for a CPU build of torch (docs/install.md).
PIP_ARGS ?=
# Extra arguments for the program, such as ARGS="--port 8000 --lang en".
ARGS ?=
BIN := $(VENV)/bin
# Tests wait two fifths of their time, for servers and browsers: three workers for two processors, four at most.
WORKERS ?= $(shell $(PYTHON) -c 'import os; print(min(4, (os.cpu_count() or 1) * 3 // 2))')
APT := $(shell command -v sudo >/dev/null 2>&1 && [ "$$(id -u)" != 0 ] && echo sudo) apt-get -y -q --no-install-recommends -o Acquire::http::Timeout=20

.PHONY: help chat llm ingest test test-all test-llm test-milvus torture fuzz bench bench-ui check format lock test-system screenshots house reader clean
.DELETE_ON_ERROR:

help:  ## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 16

chat: $(VENV)/run.done  ## set up and open the web UI
	$(BIN)/python app.py $(ARGS)

llm: $(VENV)/llm.done  ## set up the local chat model (1.1 GB), which then writes the answers
	$(BIN)/python -m rag models fetch qwen2.5-coder-1.5b-instruct

ingest: $(VENV)/run.done  ## bring the index in line with its documents
	$(BIN)/python -m ingest $(ARGS)

test: $(VENV)/develop.done  ## run the tests but for suites whose code has not changed (browser tests need Chromium: make test-system)
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder $(ARGS)

test-all: override ARGS += --all-suites
test-all: test  ## run all tests but those of the next two lines

test-llm: $(VENV)/develop.done  ## fetch a small chat model (491 MB) and run the tests that need one
	$(BIN)/python -m pytest -m llm $(ARGS)

test-milvus: $(VENV)/develop.done  ## fetch a full Milvus server (58 MB) and run the tests that need one
	$(BIN)/python -m pytest -m full_milvus $(ARGS)

torture: $(VENV)/develop.done  ## kill, starve, damage and crowd an index (RELIABILITY.md); minutes
	$(BIN)/python -m tools.torture $(ARGS)

fuzz: $(VENV)/develop.done  ## feed many hostile files of every format to the ingest (ARGS="--seed 7 --format .pdf")
	$(BIN)/python -m tools.fuzz $(ARGS)

bench: $(VENV)/develop.done  ## measure speed and growth, up to 20 minutes (ARGS="query --quick" for a part)
	$(BIN)/python -m tools.bench $(or $(ARGS),all)

bench-ui: $(VENV)/develop.done  ## 20 chats with the page at the same time, its first paint, a long evening in one, and what three readers leave in memory; ten minutes
	$(BIN)/python -m tools.bench.ui_load $(ARGS)
	$(BIN)/python -m tools.bench.evening $(ARGS)
	$(BIN)/python -m tools.bench.readers $(ARGS)

check: $(VENV)/develop.done  ## format, lint and types
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

format: $(VENV)/develop.done  ## put the code into shape
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

test-system:  ## install the browser and fonts that browser tests use (Debian)
	command -v chromium-headless-shell || ($(APT) update && $(APT) install chromium-headless-shell fonts-noto-cjk) || \
	  command -v chromium || $(APT) install chromium fonts-noto-cjk

screenshots: $(VENV)/develop.done  ## make the pictures of README.md anew
	$(BIN)/python -m tools.screenshots

reader: $(VENV)/develop.done  ## train the reader anew (docs/reader.md says with what); hours without a graphics card
	$(BIN)/python -m tools.reader $(ARGS)

house: $(VENV)/develop.done  ## measure the shape of the code against its limits
	$(BIN)/python -m tools.house

lock: $(VENV)/develop.done  ## lock what pyproject.toml asks for (ARGS=--upgrade: newest versions)
	$(BIN)/python -m pip install -q uv
	$(BIN)/python -m tools.lock $(ARGS)

$(VENV)/python.done:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed, this is " + sys.version.split()[0] + ": run make PYTHON=/path/to/python3.11")'
	$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/run.done: $(VENV)/python.done requirements.lock
	$(BIN)/python -m tools.install $(PIP_ARGS) -r requirements.lock
	@touch $@

$(VENV)/llm.done: $(VENV)/run.done pyproject.toml
	$(BIN)/python -m tools.install $(PIP_ARGS) -c requirements.lock -e ".[local]"
	@touch $@

$(VENV)/develop.done: $(VENV)/run.done requirements-dev.lock
	$(BIN)/python -m tools.install $(PIP_ARGS) -r requirements-dev.lock
	@touch $@

clean:  ## remove the virtual environment, caches and the default index
	rm -rf $(VENV) .interview-rag .test-cache .pytest_cache .mypy_cache .ruff_cache
