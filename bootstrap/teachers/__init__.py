"""The teachers, one per file."""
