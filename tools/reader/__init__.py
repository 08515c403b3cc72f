"""Trains and measures the reader (rag/reader)."""
