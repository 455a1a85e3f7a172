"""Run the command line of the experiments: ``python -m experiments``."""

from experiments.command import main

if __name__ == "__main__":
    main()
