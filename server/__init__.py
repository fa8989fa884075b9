"""The service: the HTTP API, what it stores and its web pages."""
