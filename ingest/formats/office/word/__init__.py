"""Word documents."""
