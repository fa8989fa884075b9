"""Labels of a language model: whether a passage answers a question (`citewell train labels`)."""
