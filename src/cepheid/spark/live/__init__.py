"""Streams: the engine as a stateful operator of Structured Streaming, its state in Spark's state store.

    rows ─► pack ─► by bucket ─► operator ─► unpack ─► matches
            pages   (shuffle)    bucket      tables

`pack` makes *pages* of rows, `bucket` buffers them until the watermark has passed them and runs the engine, `operator`
is the stateful processor, `unpack` makes rows of the matches. `stream` connects these; `finish` reads the rest from a
checkpoint.
"""
