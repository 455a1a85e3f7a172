"""Objects of each kind, read, checked and written: sequences, trees, rankings, graphs, molecules."""
