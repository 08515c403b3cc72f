"""The index in a Milvus server.

Rows are inserted and deleted, never changed. Each carries the generation that it came with; a generation is made live
by the insertion of one row that names it, and sees the rows up to its own number but for those of documents that are
gone. So an update costs what the change costs, and readers of the generation before find theirs untouched until it
is collected.
"""
