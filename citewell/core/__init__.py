"""What every part of Citewell speaks: types, events, settings, errors and text utilities."""
