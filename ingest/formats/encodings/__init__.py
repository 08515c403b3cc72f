"""Which encoding the bytes of a text are in."""
