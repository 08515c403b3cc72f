"""Writes the results of evaluations into the pages of docs/, as tables and figures."""
