"""The models that Citewell knows by name: the catalog, where they come from, and where they lie."""
