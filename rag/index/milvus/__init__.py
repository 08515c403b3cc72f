"""The index in a Milvus server.

Rows are inserted and deleted, never changed. Each carries the generation that added it. Inserting one row that names a
generation makes it live; it sees the rows up to its own number, except those of removed documents. So an update costs
as much as its change, and readers of the previous generation find it untouched until it is collected.
"""
