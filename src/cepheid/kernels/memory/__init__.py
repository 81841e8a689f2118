"""Blocks of memory and the numbers in them: a heap in one array, words of 64 bits, exact integers, hashes."""
