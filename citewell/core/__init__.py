"""The common ground of all parts of Citewell: types, events, settings, errors and text utilities."""
