"""Reading of text files, and models of text."""
