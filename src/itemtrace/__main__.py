"""`python -m itemtrace` is the command line."""

from itemtrace.cli import main


if __name__ == "__main__":
    main()
