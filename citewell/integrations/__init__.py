"""Citewell as a part of other libraries, one per module; each needs the extra of that library."""
