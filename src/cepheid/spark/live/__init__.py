"""Streams: the engine as a stateful operator of Structured Streaming, its state in Spark's state store.

    rows ─► pack ─► by bucket ─► operator ─► unpack ─► matches
            pages   (shuffle)    bucket      tables

`pack` makes *pages* of rows, `bucket` lets them wait until the watermark has passed them and runs the engine,
`operator` is what Spark calls, `unpack` makes rows of the matches. `stream` puts these together; `finish` reads what a
checkpoint still holds.
"""
