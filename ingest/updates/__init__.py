"""Successive runs while readers ask: a first reading, and a watch over the documents."""
