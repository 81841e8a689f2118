"""SREMO, symbolic regular expressions with memory and output (`srt`): its grammar, its syntax tree and its lowering."""
