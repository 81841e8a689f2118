"""Algebra → complex event automata: construction, trimming, simulation and print."""
