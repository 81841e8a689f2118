"""Conditions decided inside kernels: programs over tagged values, with Python asked where no word holds a value."""
