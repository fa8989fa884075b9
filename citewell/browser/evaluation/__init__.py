"""Success rates and costs of browsing policies."""
