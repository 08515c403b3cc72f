"""The embedded store and Milvus from 10,000 to 1,000,000 passages, and what follows for more."""

from tools.bench.scale.stores import measure, show

__all__ = ["measure", "show"]
