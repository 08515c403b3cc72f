"""What Word and PowerPoint files are made of."""
