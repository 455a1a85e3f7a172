"""An experiment whose pieces tell their process and then wait for a file, so that tests can kill them at a known moment."""

import os
import sys
import time
from pathlib import Path

from experiments.experiment import Experiment, Piece, mean_row
from experiments.runner import Stopped, reproduce


class Waiting(Experiment):
    """Three pieces; each writes its process number to the folder and waits for the file `go`."""

    name = "waiting"
    title = "Waiting"
    source = "Nobody"
    protocol = "Three pieces."

    def __init__(self, folder):
        self.folder = Path(folder)

    def pieces(self, small):
        return [Piece(str(number), {"number": number}) for number in range(3)]

    def run(self, piece):
        number = self.folder / f"pid-{piece.key}-{os.getpid()}"
        number.touch()
        while piece.settings["number"] and not (self.folder / "go").exists():
            time.sleep(0.01)
        return {"loss": float(piece.settings["number"])}

    def rows(self, outcomes):
        return [mean_row([outcome["loss"] for outcome in outcomes], "ours", "loss")]

    def seeds(self, small):
        return [0]


if __name__ == "__main__":
    try:
        reproduce(Waiting(sys.argv[1]), Path(sys.argv[1]), jobs=2)
    except Stopped as stopped:
        print(stopped)
        sys.exit(130)
