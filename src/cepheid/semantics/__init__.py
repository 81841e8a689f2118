"""The algebra run literally over a Python list: slow, short, the definition of right."""
