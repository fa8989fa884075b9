"""Training of the classifier of main text from pages whose text people wrote down."""
