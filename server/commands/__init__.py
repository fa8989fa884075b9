"""The commands of the service, named in `pipeline.cli`."""
