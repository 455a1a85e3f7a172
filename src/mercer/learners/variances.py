"""Variances of ridge predictions: the ridge read as a Gaussian process."""

from __future__ import annotations

import numpy as np

from mercer.core.arrays import to_numpy
from mercer.core.collections import Collection
from mercer.solvers.base import RidgeProblem


def ridge_variances(ridge: RidgeProblem, alpha: float, inputs: Collection) -> tuple[np.ndarray, np.ndarray] | None:
    r"""Return the variance of an output at each new input, and at each training input left out, over that of the noise.

    Outputs are a process of covariance :math:`\sigma^2 k(x, z)\,C / \alpha` with a mean that is not known, and noise of variance
    σ²/w. With :math:`\tilde k` the kernel around the mean of the training inputs, and α over the gain in a direction of C,

    .. math:: v(x) = 1 + \frac{1}{\sum w} + \frac{1}{\alpha}
        \big(\tilde k(x, x) - \tilde k_x (\tilde k + \alpha I)^{-1} \tilde k_x\big),
        \qquad v_{-i} = \frac{1}{w_i (1 - H_{ii})}, \quad H = \tilde k (\tilde k + \alpha I)^{-1} + \text{the mean}.

    There is one column for the identity, else one for each coordinate. None for missing outputs, for operators that are not
    separable and for kernels without k(x, x), as given Gram matrices are.
    """
    if ridge.observed is not None or not ridge.operator.separable or ridge.kernel.pairwise:
        return None
    spectrum = ridge.decomposed()
    alphas, shares = _directions(ridge, alpha, spectrum)
    values, vectors = to_numpy(spectrum.values), to_numpy(spectrum.vectors)
    rows = to_numpy(ridge.basis().values(inputs, np.empty(0)))
    own = to_numpy(ridge.kernel.diag(inputs))
    level = 0.0
    if ridge.fit_intercept:
        mean, level = to_numpy(spectrum.mean), 1.0 / ridge.total
        weight = np.full(ridge.size, level) if ridge.sample_weight is None else ridge.sample_weight * level
        own = own - 2.0 * (rows @ weight) + mean @ weight
        rows = rows - mean
    rows = rows if ridge.roots is None else rows * ridge.roots
    inside = (rows @ vectors) ** 2  # the constant is orthogonal to the eigenvectors
    # what is left of k(x, x) after the training inputs, over alpha
    finite = np.where(np.isfinite(alphas), alphas, 1.0)
    left = (own[:, None] - inside @ (1.0 / (values[:, None] + finite))) / finite
    new = 1.0 + level + np.where(np.isfinite(alphas), np.maximum(left, 0.0), 0.0)
    kept = np.where(np.isfinite(alphas), finite / (values[:, None] + finite), 1.0)  # (eigenvalues, directions)
    if ridge.members is None:
        out = 1.0 / (vectors**2 @ kept)
    else:
        out = np.empty((ridge.size, len(alphas)))
        for group in ridge.members:
            own_vectors = vectors[group]
            blocks = [np.linalg.inv((own_vectors * column) @ own_vectors.T) for column in kept.T]
            out[group] = np.stack([np.diagonal(block) for block in blocks], axis=1)
    out = out if ridge.sample_weight is None else out / ridge.sample_weight[:, None]
    return new @ shares, out @ shares


def _directions(ridge: RidgeProblem, alpha: float, spectrum: object) -> tuple[np.ndarray, np.ndarray]:
    """Return α over the gain of each direction of C, infinite outside its range, and their shares in each coordinate."""
    if ridge.operator.is_identity:
        return np.array([alpha]), np.ones((1, 1))
    assert ridge.targets is not None
    found, _ = ridge.operator_spectrum(spectrum, ridge.targets)
    assert found is not None
    gains = to_numpy(found.values)
    shares = np.eye(len(gains)) if found.vectors is None else to_numpy(found.vectors).T ** 2
    with np.errstate(divide="ignore"):
        alphas = np.where(gains > 0, alpha / np.maximum(gains, 0.0), np.inf)
    rest = np.maximum(1.0 - shares.sum(axis=0), 0.0)
    return np.append(alphas, np.inf), np.concatenate([shares, rest[None, :]])
