"""Fits of the weights that the program reads, to development halves."""
