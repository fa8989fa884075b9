"""Sentences of pages that give orders to a language model that reads them."""
