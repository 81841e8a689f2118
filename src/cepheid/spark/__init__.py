"""The same engine as Spark operators: batch matching, counting, and the session and Java they run on."""
