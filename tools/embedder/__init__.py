"""How the layers of the default embedder are trained further, and on what (docs/results/best_places.md)."""
