"""Displays of fitted models, as scikit-learn has them: `from_estimator`, `from_predictions` and `plot`.

| display | shows |
|---|---|
| `PathDisplay` | the left-out loss along alpha, or along another parameter that was chosen |
| `LeaderboardDisplay` | the left-out losses of the learners of an `AutoEstimator`, or of any predictions |
| `CoverageDisplay` | the share of right answers in conformal sets or intervals, against the share asked for |
| `PredictionGridDisplay` | predictions beside the truth: images, curves with bands, molecules, graphs, text |
| `EmbeddingDisplay` | outputs and predicted points in two dimensions of the output feature space |
| `WeightsDisplay` | the training pairs that a prediction rests on |

They need matplotlib, which ``pip install mercer[plots]`` installs; it is imported when something is drawn.
"""

from mercer.plots.coverage import CoverageDisplay
from mercer.plots.embedding import EmbeddingDisplay
from mercer.plots.leaderboard import LeaderboardDisplay
from mercer.plots.path import PathDisplay
from mercer.plots.prediction_grid import PredictionGridDisplay
from mercer.plots.weights import WeightsDisplay

__all__ = [
    "CoverageDisplay",
    "EmbeddingDisplay",
    "LeaderboardDisplay",
    "PathDisplay",
    "PredictionGridDisplay",
    "WeightsDisplay",
]
