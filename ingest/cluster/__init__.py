"""Reading and embedding by actors of a Ray cluster (docs/scale.md)."""
