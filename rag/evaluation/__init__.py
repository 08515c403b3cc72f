"""Measures the quality and speed of answers through the code that answers users."""
