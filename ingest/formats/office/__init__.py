"""The building blocks of Word and PowerPoint files."""
