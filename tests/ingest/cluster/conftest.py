"""A real Ray cluster of two nodes with a processor each, for all tests of this folder."""

import secrets
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from ingest.cluster.connection import import_ray


@dataclass(frozen=True)
class TwoNodes:
    """`folder` holds the logs of both."""

    address: str
    folder: Path


@pytest.fixture(scope="session")
def two_nodes() -> Iterator[TwoNodes]:
    if find_spec("ray") is None:
        pytest.skip("needs the extra `ray`")
    with (
        pytest.MonkeyPatch.context() as patch,
        # Not pytest's own folder: paths of sockets must be short.
        tempfile.TemporaryDirectory(prefix="ray-", dir="/tmp", ignore_cleanup_errors=True) as folder,
    ):
        patch.setenv("RAY_AUTH_MODE", "token")
        patch.setenv("RAY_AUTH_TOKEN", secrets.token_hex(32))
        import_ray()
        from ray.cluster_utils import Cluster

        raylet: Any = import_module("ray._raylet")
        raylet.Config.initialize("")  # reads the first variable again, where Ray was imported before
        Path("/tmp/ray").mkdir(exist_ok=True)  # it writes an address there, wherever the rest lies
        common: dict[str, Any] = {"num_cpus": 1, "include_dashboard": False, "object_store_memory": 100 << 20}
        cluster: Any = Cluster(initialize_head=True, head_node_args={**common, "temp_dir": folder})
        cluster.add_node(**common)
        yield TwoNodes(cluster.address, Path(folder))
        cluster.shutdown()
