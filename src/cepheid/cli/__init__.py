"""The same stages from a shell: `cepheid run`, `explain`, `check` and `demo`."""
