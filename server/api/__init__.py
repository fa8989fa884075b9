"""The resources of the API, one per file."""
