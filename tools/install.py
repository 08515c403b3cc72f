"""python -m tools.install …: install as `pip install …` would, by uv, which takes a quarter of the time.

uv is told what pip is configured with, such as a mirror of the package index. Where uv cannot be had, or fails, pip
installs. Nothing but the standard library is needed.
"""

import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check")
# Settings of pip, and the variables that tell uv the same (docs.astral.sh/uv, "Environment variables").
VARIABLES = {
    "index-url": "UV_DEFAULT_INDEX",
    "extra-index-url": "UV_INDEX",
    "find-links": "UV_FIND_LINKS",
    "no-index": "UV_NO_INDEX",
    "constraint": "UV_CONSTRAINT",
    "cert": "SSL_CERT_FILE",
    "trusted-host": "UV_INSECURE_HOST",
    "proxy": "ALL_PROXY",
    "timeout": "UV_HTTP_TIMEOUT",
}
# Between several values of one setting; spaces between those of the others.
COMMAS = ("find-links",)
# As pip does: the best version of any index, and the certificates of the system.
AS_PIP = {"UV_INDEX_STRATEGY": "unsafe-best-match", "UV_SYSTEM_CERTS": "true", "UV_NO_CONFIG": "true"}


def main(arguments: Sequence[str]) -> int:
    """The exit status."""
    with tempfile.TemporaryDirectory() as folder:
        if uv := _fetched(Path(folder)):
            if _installs(uv, arguments):
                return 0
            sys.stderr.write("uv could not install this; pip tries.\n")
    return subprocess.run((*PIP, "install", "--quiet", *arguments), check=False).returncode


def _installs(uv: str, arguments: Sequence[str]) -> bool:
    """Whether uv installs it. Its progress is shown where someone looks."""
    quiet = () if sys.stderr.isatty() else ("--quiet",)
    command = (uv, "pip", "install", *quiet, "--compile-bytecode", "--python", sys.executable, *arguments)
    settings = told(pip_settings(_output("config", "list").splitlines()))
    try:
        return subprocess.run(command, env={**AS_PIP, **settings, **os.environ}, check=False).returncode == 0
    except OSError:  # it cannot be run here
        return False


def _fetched(folder: Path) -> str | None:
    """The program uv, in a folder of its own; None where it cannot be had."""
    fetches = (*PIP, "install", "--quiet", "--no-deps", "--only-binary", ":all:", "--target", str(folder), "uv")
    if subprocess.run(fetches, capture_output=True, check=False).returncode:
        return None
    return next((str(found) for found in folder.rglob("bin/uv")), None)


def _output(*arguments: str) -> str:
    return subprocess.run((*PIP, *arguments), capture_output=True, text=True, check=False).stdout


def pip_settings(lines: Iterable[str]) -> dict[str, str]:
    """The settings by name, of the lines of `pip config list`: those of `install` before those of all commands, and
    environment variables before both.

    >>> pip_settings(["global.index-url='https://a/simple'", ":env:.index-url='https://b/simple'"])
    {'index-url': 'https://b/simple'}
    """
    found: dict[str, dict[str, str]] = {"global": {}, "install": {}, ":env:": {}}
    for line in lines:
        name, _, value = line.partition("=")
        section, _, key = name.rpartition(".")
        if section in found:
            found[section][key] = "".join(shlex.split(value)[:1])
    return found["global"] | found["install"] | found[":env:"]


def told(settings: Mapping[str, str]) -> dict[str, str]:
    """The variables that tell uv these settings."""
    known = {name: value.split() for name, value in settings.items() if name in VARIABLES}
    return {VARIABLES[name]: ("," if name in COMMAS else " ").join(values) for name, values in known.items()}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
