"""Studies: people judge the answers of several systems without knowing which is which."""
