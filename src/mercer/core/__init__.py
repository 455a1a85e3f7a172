"""Arrays, collections, memory and factorizations that every other room uses."""
