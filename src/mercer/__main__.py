"""``python -m mercer``: the same as the command ``mercer``."""

from mercer.cli.main import main

if __name__ == "__main__":
    main()
