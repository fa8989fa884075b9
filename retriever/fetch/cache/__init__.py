"""The HTTP cache of the fetcher (RFC 9111): the policy, the stores, and a transport that uses both."""
