# The program, its page and its corpus. Models are not inside: the first start fetches the embedder into /models.
FROM python:3.11-slim-bookworm

# Extras of pyproject.toml; and arguments for pip, such as --extra-index-url for a CPU build of torch (README).
ARG EXTRAS=formats,milvus
ARG PIP_ARGS=

WORKDIR /source
# What changes seldom comes first, so that a new version of the program does not install torch again.
COPY requirements.lock requirements-dev.lock ./
# hadolint ignore=SC2086
RUN pip install --no-cache-dir $PIP_ARGS -r requirements.lock
COPY pyproject.toml README.md LICENSE app.py ./
COPY corpus corpus
COPY ingest ingest
COPY rag rag
# hadolint ignore=SC2086
RUN pip install --no-cache-dir $PIP_ARGS -c requirements-dev.lock ".[$EXTRAS]"

RUN useradd --uid 1000 --create-home rag && install --directory --owner rag --group rag /data /models
USER 1000
# Index, conversations and documents that readers add lie in .interview-rag of the current folder.
WORKDIR /data
ENV XDG_CACHE_HOME=/models \
    PYTHONUNBUFFERED=1
ENTRYPOINT ["interview-rag"]
CMD ["--help"]
