"""How the layers of the default embedder are trained further, and what they are trained on (docs/embedder.md)."""
