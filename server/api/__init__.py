"""The resources of the API, one a file."""
