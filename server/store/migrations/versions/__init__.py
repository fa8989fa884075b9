"""One change of the tables a file, each naming the one before it."""
