"""The `citewell` command line."""
