"""`python -m cepheid`: the same program as `cepheid`, where scripts are not on the path."""

from cepheid.cli import main

if __name__ == "__main__":
    main()
