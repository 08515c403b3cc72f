"""Detection of the encoding of a text's bytes."""
