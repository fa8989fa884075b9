"""Search providers: the coarse stage, one provider a file, one protocol."""
