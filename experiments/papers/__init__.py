"""One experiment for each table and figure of the papers."""
