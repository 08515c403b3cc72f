"""A small model that reads question and text together."""
