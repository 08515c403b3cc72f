"""Bytes of one file -> its text, one module for each format. Runs in the child process of ingest.parser_process."""
