"""Learning an entangled kernel: the alignment of Huusari and Kadri with its gradient, at a cost independent of n."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
import scipy.optimize
from sklearn.utils import check_random_state


@dataclass
class Learned:
    """The result of an ascent: M₁ … M_r as one array (r, p, m) of unit norm, and the objective after every step."""

    maps: np.ndarray
    alignment: float
    path: np.ndarray
    evaluations: int


class EntanglementObjective:
    r"""The alignment of an entangled kernel with the outputs.

    .. math:: (1 - \gamma)\, A(\mathrm{tr}_p G,\; Y Y^\top) + \gamma\, A(G,\; y y^\top),
        \qquad G = \sum_s \mathrm{vec}(\Phi M_s^\top)\,\mathrm{vec}(\Phi M_s^\top)^\top

    A is the centred alignment and y all outputs in one column. Matrices of size m×m, m×p and r×r are computed once from the n
    samples, so a step costs O(r p m (m + r)). The objective does not depend on the norm of the maps: the sphere of the paper is
    a normalisation.

    Parameters
    ----------
    features : array (n, m)
        Rows φ(x).
    outputs : array (n, p)
        Rows y.
    gamma : float
        γ in [0, 1]: the weight of the whole operator-valued kernel; 1 − γ is that of its partial trace.
    basis : array (p, q), optional
        Orthonormal columns that span the outputs (`span_of_outputs`); the maps are then (r, q, m), in these coordinates.
    sample_weight : array (n,), optional
        Weight of each sample.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> objective = EntanglementObjective(rng.standard_normal((8, 3)), rng.standard_normal((8, 2)), 0.5)
    >>> value, gradient = objective(rng.standard_normal((4, 2, 3)))
    >>> bool(0 < value < 1), gradient.shape
    (True, (4, 2, 3))
    """

    def __init__(
        self,
        features: np.ndarray,
        outputs: np.ndarray,
        gamma: float,
        basis: np.ndarray | None = None,
        sample_weight: np.ndarray | None = None,
    ) -> None:
        p = outputs.shape[1]
        weight = np.ones(len(outputs)) if sample_weight is None else np.asarray(sample_weight, dtype=float)
        n, roots = float(weight.sum()), np.sqrt(weight)[:, None]
        mean = float(np.sum(weight @ outputs)) / (n * p)
        self.ones = np.ones(p) if basis is None else basis.sum(axis=0)
        outputs = outputs if basis is None else outputs @ basis
        self.gamma, self.shape = float(gamma), (outputs.shape[1], features.shape[1])
        centred = roots * (features - weight @ features / n)
        centred_outputs = roots * (outputs - weight @ outputs / n)
        # tr_p(G) = Φ S Φᵀ with S = Σ M_sᵀ M_s; centring it centres the features
        self.trace_moment = centred.T @ centred
        cross = centred.T @ centred_outputs
        self.trace_target = cross @ cross.T
        small = centred_outputs if self.shape[0] <= len(outputs) else centred_outputs.T
        self.trace_norm = float(np.linalg.norm(small.T @ small))
        # G = B Bᵀ, column s of B is vec(Φ M_sᵀ); centring takes the mean of all np entries from each column
        features, level = roots * features, roots * (outputs - mean * self.ones)
        self.moment = features.T @ features
        self.mean = (roots.T @ features)[0] / (n * p)
        self.target = level.T @ features
        self.target_norm = float(np.sum(level**2))
        self.entries = n * p
        if self.trace_norm == 0 or self.target_norm == 0:
            raise ValueError("y is constant, so there is nothing to align a kernel with; expected outputs that vary")

    def __call__(self, maps: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the objective at M₁ … M_r, (r, p, m), and its gradient."""
        value, gradient = 0.0, np.zeros_like(maps)
        for weight, part in ((1.0 - self.gamma, self._trace), (self.gamma, self._whole)):
            if weight:
                score, slope = part(maps)
                value += weight * score
                gradient += weight * slope
        return value, gradient

    def _trace(self, maps: np.ndarray) -> tuple[float, np.ndarray]:
        """A(tr_p G, Y Yᵀ) = tr(S W) / (‖F^½ S F^½‖ ‖Y Yᵀ‖)."""
        flat = maps.reshape(-1, maps.shape[2])
        S = flat.T @ flat
        moved = self.trace_moment @ S
        norm = np.sqrt(max(float(np.sum(moved * moved.T)), 0.0))
        inner = float(np.sum(S * self.trace_target))
        if norm == 0:
            return 0.0, np.zeros_like(maps)
        slope = self.trace_target / norm - inner / norm**3 * (moved @ self.trace_moment)
        return inner / norm / self.trace_norm, (flat @ (2.0 / self.trace_norm * slope)).reshape(maps.shape)

    def _whole(self, maps: np.ndarray) -> tuple[float, np.ndarray]:
        """A(G, y yᵀ) = ‖Bᵀ y‖² / (‖Bᵀ B‖ ‖y‖²), B and y centred."""
        r = maps.shape[0]
        moved = maps @ self.moment
        means = np.einsum("spm,p,m->s", maps, self.ones, self.mean)
        gram = moved.reshape(r, -1) @ maps.reshape(r, -1).T - self.entries * np.outer(means, means)
        inner = np.einsum("spm,pm->s", maps, self.target)
        norm, square = np.linalg.norm(gram), float(inner @ inner)
        if norm == 0:
            return 0.0, np.zeros_like(maps)
        # d gram_st = ⟨dM_s, M_t F⟩ + ⟨M_s F, dM_t⟩ − entries · (d mean_s mean_t + mean_s d mean_t)
        pull = (gram @ moved.reshape(r, -1)).reshape(maps.shape)
        pull -= self.entries * (gram @ means)[:, None, None] * np.outer(self.ones, self.mean)
        slope = 2.0 / norm * inner[:, None, None] * self.target - 2.0 * square / norm**3 * pull
        return float(square / norm / self.target_norm), slope / self.target_norm


def learn_maps(
    objective: EntanglementObjective, rank: int, *, starts: int = 1, max_iter: int = 100, random_state: Any = None
) -> Learned:
    """Maximise the objective over `rank` maps by L-BFGS, from several random starts, and keep the best.

    A small `max_iter`, the number of steps from each start, keeps an entangled kernel from overfitting.
    """
    rng, shape = check_random_state(random_state), (rank, *objective.shape)
    found = [maximize(objective, rng.standard_normal(shape), max_iter=max_iter) for _ in range(starts)]
    return max(found, key=lambda each: each.alignment)


def maximize(objective: EntanglementObjective, maps: np.ndarray, *, max_iter: int = 100) -> Learned:
    """Maximise the objective from `maps` by L-BFGS."""
    (found,) = ascend(objective, maps, [max_iter])
    return found


def ascend(objective: EntanglementObjective, maps: np.ndarray, steps: Sequence[int]) -> list[Learned]:
    """Maximise the objective from `maps` by L-BFGS and return the result after each number of steps, from one ascent."""
    shape = maps.shape
    start = maps.ravel() / np.linalg.norm(maps)
    path: list[float] = [objective(start.reshape(shape))[0]]
    evaluations = 1
    kept: dict[int, tuple[np.ndarray, int]] = {0: (start, 1)}

    def descend(flat: np.ndarray) -> tuple[float, np.ndarray]:
        nonlocal evaluations
        evaluations += 1
        value, gradient = objective(flat.reshape(shape))
        return -value, -gradient.ravel()

    def step(intermediate_result: scipy.optimize.OptimizeResult) -> None:
        path.append(-float(intermediate_result.fun))
        if len(path) - 1 in steps:
            kept[len(path) - 1] = np.array(intermediate_result.x), evaluations

    if max(steps) > 0:
        options = {"maxiter": max(steps), "maxcor": 20, "ftol": 1e-12, "gtol": 1e-9}
        result = scipy.optimize.minimize(descend, start, jac=True, method="L-BFGS-B", options=options, callback=step)
        kept[len(path) - 1] = result.x, evaluations
    found = []
    for asked in steps:
        taken = min(asked, len(path) - 1)  # fewer where the ascent has converged
        point, spent = kept[taken]
        unit = (point / np.linalg.norm(point)).reshape(shape)
        found.append(Learned(unit, objective(unit)[0], np.asarray(path[: taken + 1]), spent))
    return found


def span_of_outputs(outputs: np.ndarray) -> np.ndarray:
    """Return an orthonormal basis (p, q) of the span of the outputs and the constant, which holds the gradient.

    Maps that start in this span stay in it: the 365 outputs of a curve over the days become at most n + 1.
    """
    n, p = outputs.shape
    if p <= n + 1:
        return np.eye(p)
    both = np.concatenate([outputs, np.ones((1, p))]).T
    basis, _, _ = scipy.linalg.svd(both, full_matrices=False)
    return basis
