"""How good and how fast the answers are, measured through the code that answers users."""
