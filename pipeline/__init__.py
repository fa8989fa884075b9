"""The pipeline that composes the stages, and the `citewell` command line."""
