"""A full Milvus server, from the package `milvus` of the index: the Go server, with etcd, log and files inside it.

The wheel, whose checksum is known for Linux on x86-64, is unpacked into .test-cache and never installed. It is the
newest that the index has, and older than sparse vectors; see `tools.dense_milvus`.
"""

import hashlib
import lzma
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from rag.paths import PROGRAM
from tools.milvus_server import MilvusServer, free_port

VERSION = "2.3.5"
PLATFORM = ("linux", "x86_64")
SHA256 = "69515a0630ce29fd10e101fa442afea8ca1387b93a456cd9bd41fdf3deb93d04"
UNPACKED = PROGRAM / ".test-cache" / f"milvus-{VERSION}"
TEMPLATE = "config.yaml.template"
VALUE = re.compile(r"\{\{\s*(\w+)(?:\(\w+\))?(?::\s*(\S+))?\s*\}\}")
ETCD = "etcd.yaml"
# A service that was killed is believed to live for so many seconds; a server that starts again waits for that.
SESSION = ("ttl: 30", "ttl: 5")


class FullMilvusServer(MilvusServer):
    """Started, killed and started again at the same address, over the same folder. With `token`, of which a new one
    knows `root:Milvus`, it asks for credentials; with `tls`, the PEM files of a key and its certificate, it speaks TLS
    to localhost."""

    name = f"milvus {VERSION}"

    def __init__(self, folder: Path, *, port: int = 0, token: str = "", tls: tuple[Path, Path] | None = None) -> None:
        super().__init__(folder, port=port)
        self._program = unpacked()
        self._token = token
        self._tls = tls

    @property
    def uri(self) -> str:
        return f"https://localhost:{self.port}" if self._tls else super().uri

    @property
    def certificate(self) -> Path | None:
        return self._tls[1] if self._tls else None

    @property
    def access(self) -> dict[str, object]:
        return {"milvus_token": self._token, "milvus_certificate": self.certificate}

    def spawn(self) -> None:
        (self.folder / "configs").mkdir(parents=True, exist_ok=True)
        shutil.copy(self._program / "glog.conf", self.folder / "configs")
        for name, text in self._configuration().items():
            (self.folder / "configs" / name).write_text(text, encoding="utf-8")
        program = self._program / "bin"
        environment = {
            "DEPLOY_MODE": "STANDALONE",
            "METRICS_PORT": str(free_port()),
            "MILVUS_RUN_DIR": str(self.folder / "run"),
            "LD_LIBRARY_PATH": str(program),
        }
        self._run([str(program / "milvus"), "run", "standalone"], environment, self.folder)

    def _configuration(self) -> dict[str, str]:
        """Its files by name; it takes every port from them but that of etcd's peers."""
        data, etcd = self.folder / "data", free_port()
        values = {
            "etcd_port": str(etcd),
            "proxy_port": str(self.port),
            "etcd_log_path": str(self.folder / "etcd.log"),
            "etcd_log_level": "warn",
            "etcd_data_dir": str(data / "etcd"),
            "local_storage_dir": str(data),
            "rocksmq_data_dir": str(data / "rocksmq"),
            "system_log_path": "",
            "authorization_enabled": "true" if self._token else "false",
        }
        if self._tls:
            key, certificate = self._tls
            values |= {"tls_mode": "1", "server_key_path": str(key), "server_pem_path": str(certificate)}

        def value(found: re.Match[str]) -> str:
            name, usual = found.groups()
            return values.get(name) or (str(free_port()) if name.endswith("_port") else usual or "")

        text = VALUE.sub(value, (self._program / TEMPLATE).read_text(encoding="utf-8"))
        text = text.replace(*SESSION).replace("  level: info #", "  level: warn #")
        text = text.replace("\netcd:\n", f"\netcd:\n  config:\n    path: {self.folder / 'configs' / ETCD}\n")
        client, peers = f"http://localhost:{etcd}", f"http://localhost:{free_port()}"
        cluster = {
            "name": "default", "initial-cluster": f"default={peers}", "log-level": "warn",
            "data-dir": str(data / "etcd"),
            "listen-client-urls": client, "advertise-client-urls": client,
            "listen-peer-urls": peers, "initial-advertise-peer-urls": peers,
        }  # fmt: skip
        return {"milvus.yaml": text, ETCD: "".join(f"{name}: {said}\n" for name, said in cluster.items())}


def unpacked() -> Path:
    """The folder of the program, fetched from the package index when it is first asked for."""
    folder = UNPACKED
    if folder.is_dir():
        return folder
    if (sys.platform, platform.machine()) != PLATFORM:
        raise RuntimeError(
            f"the checksum of milvus {VERSION} is known for {' '.join(PLATFORM)} only, this is {sys.platform} "
            f"{platform.machine()}: nothing is fetched"
        )
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as temporary:
        wheel = ["--no-deps", "--only-binary", ":all:", "--dest", temporary, f"milvus=={VERSION}"]
        subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", *wheel], check=True)
        (file,) = Path(temporary).glob("*.whl")
        require_checksum(file)
        made = Path(temporary) / "made"
        (made / "bin").mkdir(parents=True)
        with zipfile.ZipFile(file) as archive:
            for name in archive.namelist():
                if name.startswith("milvus/data/"):
                    _unpack(archive, name, made)
        try:
            made.rename(folder)
        except OSError:  # another process was first
            if not folder.is_dir():
                raise
    return folder


def require_checksum(file: Path) -> None:
    """Raise RuntimeError where a wheel is not the one that is known."""
    with file.open("rb") as read:
        found = hashlib.file_digest(read, "sha256").hexdigest()
    if found != SHA256:
        raise RuntimeError(f"{file.name} has the SHA-256 {found}, not {SHA256}: it is not unpacked")


def _unpack(archive: zipfile.ZipFile, name: str, to: Path) -> None:
    target = to / name.removeprefix("milvus/data/")
    with archive.open(name) as packed:
        if target.suffix != ".lzma":
            target.write_bytes(packed.read())
            return
        target = target.with_suffix("")
        with lzma.open(packed) as plain, target.open("wb") as file:
            shutil.copyfileobj(plain, file)
        target.chmod(0o755)
