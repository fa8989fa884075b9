"""Who may ask, and how often: keys with scopes, rate limits and daily budgets."""
