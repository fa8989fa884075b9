"""Training objectives of the dual encoder, one per file; `mixture` combines them."""
