"""Unary patterns: a window as a product of matrices kept in two stacks."""
