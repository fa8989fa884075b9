"""The commands of the service, named in `citewell.cli.main`."""
