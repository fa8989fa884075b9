"""Migrations of the tables, one per file, each naming the one before it."""
