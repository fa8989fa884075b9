"""Search providers (the coarse stage of retrieval): one protocol, one provider per module."""
