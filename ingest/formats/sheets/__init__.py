"""Tables of spreadsheets and of delimited text."""
