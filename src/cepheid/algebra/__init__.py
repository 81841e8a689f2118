"""The one meaning all languages lower to: patterns, conditions, queries, their types and their print."""
