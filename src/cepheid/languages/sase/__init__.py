"""SASE+ (`sase-plus`): its grammar, its syntax tree and its lowering."""
