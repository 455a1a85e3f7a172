"""The contract of kernels."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone

import mercer.kernels
from mercer.core.arrays import Array, to_numpy
from mercer.core.collections import Collection, is_numeric, members, take
from mercer.core.validation import is_real
from mercer.kernels import GaussianOf, Kernel
from mercer.kernels.base import holds_data, same


def check_kernel(kernel: Kernel, X: Collection, Z: Collection | None = None, rtol: float = 1e-8) -> list[str]:
    r"""Raise AssertionError unless `kernel` keeps the contract of a kernel on the objects `X`.

    The Gram matrix is finite, symmetric and positive semi-definite, :math:`\lambda_{\min} \ge -\text{rtol}\,\lambda_{\max}`;
    ``k(X)`` is ``k(X, X)``; ``k(X, Z)`` is the transpose of ``k(Z, X)``; `diag` is the diagonal; the vectorised form agrees
    with `pointwise`; the order of the objects does not matter; collections from `prepare` give the same values as the
    collections themselves, and one object the same as many; sums, products, cosines and Gaussians of the kernel are what they
    say, in mixed nesting; a feature map gives the kernel back; sparse rows, where the kernel takes them, have the values of
    dense ones; `clone`, `get_params`, `set_params`, ``==`` and `repr` work;
    `resolve` changes nothing the second time; and neither the kernel nor `X` is changed by any of it.

    Parameters
    ----------
    kernel : Kernel
        Resolved on `X` here where it has to be.
    X : collection
        A few objects, at least three. Include odd ones: empty, equal, very long.
    Z : collection, optional
        Other objects; for a kernel whose collections are Gram matrices, rows of values against `X`. By default some of `X`.
    rtol : float
        Differences allowed, relative to the largest entry.

    Returns
    -------
    list of str
        The clauses that could not be checked, and why.

    Examples
    --------
    >>> from mercer.kernels import FromFunction, Subsequence
    >>> check_kernel(Subsequence(length=2), ["cat", "cart", "art", "a", ""])
    []
    >>> check_kernel(FromFunction(lambda x, z: abs(len(x) - len(z))), ["cat", "at", "a"])  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    AssertionError: ... is not positive semi-definite: its smallest eigenvalue is -2, its largest 2.73205
    """
    case = _case(kernel, X, Z, rtol)
    before = copy.deepcopy(case.X)
    skipped = _check_parameters(kernel)
    _check_gram(case)
    _check_fresh(case)
    skipped += _check_two_arguments(case)
    _check_diagonal(case)
    skipped += _check_permutation(case)
    skipped += _check_pointwise(case)
    _check_prepared(case)
    _check_composition(case)
    _check_features(case)
    _check_sparse(case)
    _require(_unchanged(case, before), case.kernel, "changed the objects it was evaluated on")
    return skipped


def _check_fresh(case: _Case) -> None:
    """A Gram matrix is a new array, unless it is the user's own: solvers work in place."""
    first, second = to_numpy(case.kernel(case.X)), to_numpy(case.kernel(case.X))
    fresh = case.kernel.pairwise or not np.shares_memory(first, second)
    _require(fresh, case.kernel, "returns the same Gram matrix twice; expected a new array each time")


def _unchanged(case: _Case, before: Collection) -> bool:
    """True if the objects are as before, by their own equality or, for those that have none (graphs), by the kernel's key."""
    if same(case.X, before):
        return True
    return all(case.kernel.key(x) == case.kernel.key(z) for x, z in zip(members(case.X), members(before), strict=True))


@dataclass
class _Case:
    kernel: Kernel
    X: Collection
    Z: Collection
    gram: np.ndarray
    rtol: float

    def close(self, got: Array, wanted: np.ndarray, what: str, kernel: Kernel | None = None) -> None:
        """Raise unless two matrices agree up to rounding, naming the worst entry."""
        values = to_numpy(got)
        named = self.kernel if kernel is None else kernel
        _require(values.shape == wanted.shape, named, f"{what}: shape {values.shape}, expected {wanted.shape}")
        difference = np.abs(values - wanted)
        worst = np.unravel_index(int(np.argmax(difference)), wanted.shape)
        allowed = self.rtol * max(float(np.abs(wanted).max()), np.finfo(float).tiny)
        where = ", ".join(map(str, worst))
        _require(
            bool(difference[worst] <= allowed),
            named,
            f"{what}: entry ({where}) is {values[worst]:.12g}, expected {wanted[worst]:.12g}",
        )


def _require(holds: bool, kernel: Kernel, what: str) -> None:
    if not holds:
        raise AssertionError(f"{kernel!r} {what}")


def _case(kernel: Kernel, X: Collection, Z: Collection | None, rtol: float) -> _Case:
    if not isinstance(kernel, Kernel):
        raise AssertionError(f"{kernel!r} is a {type(kernel).__name__}, not a mercer.kernels.Kernel")
    untouched = clone(kernel)
    try:
        X = kernel.check(X, "X")
        resolved = kernel.resolve(X)
        gram = np.array(to_numpy(resolved(X)))
    except (TypeError, ValueError) as error:
        raise AssertionError(f"{kernel!r} could not be evaluated: {error}") from error
    _require(kernel == untouched, kernel, "was changed by resolve; expected a new kernel")
    _require(resolved.is_resolved, resolved, "is still not resolved after resolve")
    _require(resolved.resolve(X) == resolved, resolved, "changes when resolved a second time")
    if Z is None:
        Z = take(X, np.arange(X.shape[0] // 2 + 1))
    return _Case(resolved, X, kernel.check(Z, "Z"), gram, rtol)


def _check_gram(case: _Case) -> None:
    gram, n = case.gram, case.X.shape[0]
    _require(gram.shape == (n, n), case.kernel, f"has a Gram matrix of shape {gram.shape} for {n} objects")
    _require(gram.dtype == np.float64, case.kernel, f"has a Gram matrix of dtype {gram.dtype}, expected float64")
    _require(bool(np.isfinite(gram).all()), case.kernel, "has NaN or infinity in its Gram matrix")
    case.close(gram.T, gram, "is not symmetric")
    values = np.linalg.eigvalsh(gram)
    _require(
        bool(values[0] >= -case.rtol * max(values[-1], 0.0)),
        case.kernel,
        f"is not positive semi-definite: its smallest eigenvalue is {values[0]:.6g}, its largest {values[-1]:.6g}",
    )
    case.close(case.kernel(case.X), gram, "gives another Gram matrix the second time")


def _check_two_arguments(case: _Case) -> list[str]:
    case.close(case.kernel(case.X, case.X), case.gram, "k(X, X) is not k(X)")
    try:
        across = to_numpy(case.kernel(case.Z, case.X))
    except ValueError as error:
        return _unknown(case, "k(Z, X)", error)
    shape = (case.Z.shape[0], case.X.shape[0])
    _require(across.shape == shape, case.kernel, f"k(Z, X) has shape {across.shape}, expected {shape}")
    if not case.kernel.pairwise:
        case.close(case.kernel(case.X, case.Z), across.T, "k(X, Z) is not the transpose of k(Z, X)")
    return []


def _unknown(case: _Case, what: str, error: ValueError) -> list[str]:
    """Return the reason why a kernel given as a Gram matrix has no value; any other kernel has to."""
    _require(case.kernel.pairwise, case.kernel, f"{what} could not be evaluated: {error}")
    return [f"{what}: {error}"]


def _check_diagonal(case: _Case) -> None:
    case.close(case.kernel.diag(case.X), np.diag(case.gram), "diag(X) is not the diagonal of k(X)")
    if not case.kernel.pairwise:
        own = np.diag(to_numpy(case.kernel(case.Z, case.Z)))
        case.close(case.kernel.diag(case.Z), own, "diag(Z) is not the diagonal of k(Z, Z)")
    sees = case.kernel.sees(case.X)
    expected = isinstance(sees, np.ndarray) and sees.dtype == bool and sees.shape == (case.X.shape[0],)
    _require(expected, case.kernel, "sees(X) is not a NumPy array of one boolean per object")


def _check_pointwise(case: _Case) -> list[str]:
    if case.kernel.pairwise:
        return ["pointwise: a kernel on Gram matrices has no single objects"]
    values = np.asarray([[float(case.kernel.pointwise(x, z)) for z in members(case.X)] for x in members(case.X)])
    case.close(case.gram, values, "k(X) is not what pointwise gives")
    return []


def _check_permutation(case: _Case) -> list[str]:
    order = np.random.default_rng(0).permutation(case.X.shape[0])
    shuffled = take(case.X, order)
    try:
        got = case.kernel(take(shuffled.T, order).T if case.kernel.pairwise else shuffled)
    except ValueError as error:
        return _unknown(case, "another order", error)
    wanted = case.gram[np.ix_(order, order)]
    case.close(got, wanted, "k(X) does not follow when the objects are put in another order")
    return []


def _check_prepared(case: _Case) -> None:
    kernel, X, Z = case.kernel, case.X, case.Z
    prepared = kernel.prepare(X)
    _require(len(prepared) == X.shape[0], kernel, f"prepares {X.shape[0]} objects as {len(prepared)}")
    _require(kernel.check(prepared) is prepared.objects, kernel, "check(prepared) is not the checked collection")
    for _ in range(2):  # what the first evaluation kept does not change the second one
        case.close(kernel(prepared), case.gram, "k(prepared) is not k(X)")
        case.close(kernel(prepared, prepared), to_numpy(kernel(X, X)), "k(prepared, prepared) is not k(X, X)")
        case.close(kernel.diag(prepared), to_numpy(kernel.diag(X)), "diag(prepared) is not diag(X)")
    if not kernel.pairwise:
        across, other = to_numpy(kernel(Z, X)), kernel.prepare(Z)
        for left, right in ((Z, prepared), (other, X), (other, prepared)):
            case.close(kernel(left, right), across, "k(Z, X) changes with prepared collections")
        for left, right in ((prepared, Z), (X, other), (prepared, other)):
            case.close(kernel(left, right), across.T, "k(X, Z) changes with prepared collections")
        alone = [to_numpy(kernel(take(Z, np.asarray([i])), prepared))[0] for i in range(Z.shape[0])]
        case.close(np.asarray(alone), across, "k(z, X) of one object is not its row in k(Z, X)")
    holds = vars(kernel).keys() == vars(clone(kernel)).keys()
    _require(holds, kernel, "keeps something of a collection; expected a kernel to hold its parameters alone")


def _check_composition(case: _Case) -> None:
    a, gram = case.kernel, case.gram
    pairs: list[tuple[Collection, Collection | None, np.ndarray]] = [(case.X, None, gram)]
    if not a.pairwise:
        pairs.append((case.X, case.Z, to_numpy(a(case.X, case.Z))))
    norms = np.diag(gram)
    for X, Z, k in pairs:
        others = norms if Z is None else to_numpy(a.diag(Z))
        lengths = np.sqrt(np.clip(norms, 0, None))[:, None] * np.sqrt(np.clip(others, 0, None))
        cosine = np.divide(k, lengths, out=np.zeros_like(k), where=lengths > 0)
        b, c = a.normalized(), a * 0.5
        compositions: list[tuple[Kernel, np.ndarray]] = [
            (a * b + c, k * cosine + 0.5 * k),
            ((a + b) * c, (k + cosine) * 0.5 * k),
            (b, cosine),
            ((a + c) * 2, 3.0 * k),
        ]
        for kernel, wanted in compositions:
            case.close(kernel(X, Z), wanted, "is not what its parts give", kernel)
        squared = np.clip(norms[:, None] + others - 2.0 * k, 0, None)
        # wide enough that rounding in the distance of equal objects does not show
        scale = float(np.sqrt(max(squared.mean(), 1e-3 * norms.max(), np.finfo(float).tiny)))
        bell = GaussianOf(a, scale)
        case.close(bell(X, Z), np.exp(-squared / scale / (2.0 * scale)), "is not what its parts give", bell)


def _check_features(case: _Case) -> None:
    found = case.kernel.feature_map(case.X)
    if found is None:
        return
    rows = to_numpy(found(case.X))
    shape = (case.X.shape[0], found.dimension)
    _require(rows.shape == shape, case.kernel, f"has features of shape {rows.shape}, expected {shape}")
    case.close(rows @ rows.T, case.gram, "has a feature map whose inner products are not k(X)")
    if rows.size:
        case.close(found.sparse_rows(case.X).toarray(), rows, "has a feature map whose sparse rows are not its rows")
    across = to_numpy(case.kernel(case.Z, case.X))
    case.close(to_numpy(found(case.Z)) @ rows.T, across, "has a feature map whose inner products are not k(Z, X)")


def _check_sparse(case: _Case) -> None:
    if not (case.kernel.takes_sparse and is_numeric(case.X) and case.X.ndim == 2):
        return
    X, Z = (sparse.csr_array(to_numpy(side)) for side in (case.X, case.Z))
    case.close(case.kernel(X), case.gram, "k(X) of sparse rows is not that of dense ones")
    case.close(case.kernel.diag(X), np.diag(case.gram), "diag(X) of sparse rows is not that of dense ones")
    across = to_numpy(case.kernel(case.Z, case.X))
    for left, right in ((Z, X), (case.Z, X), (Z, case.X)):
        case.close(case.kernel(left, right), across, "k(Z, X) changes with sparse rows")


def _check_parameters(kernel: Kernel) -> list[str]:
    twin = clone(kernel)
    _require(twin is not kernel and twin == kernel, kernel, "is not equal to its clone")
    _require(kernel != object(), kernel, "is equal to an object that is not a kernel")
    twin.set_params(**kernel.get_params(deep=False))
    _require(twin == kernel, kernel, "is not the same after set_params(**get_params())")
    for name, value in kernel.get_params().items():
        if is_real(value):
            changed = clone(kernel).set_params(**{name: value + 1})
            _require(changed != kernel, kernel, f"is equal to itself with another {name}")
    held = [name for name, value in kernel.get_params().items() if _is_held(value)]
    if held:
        return [f"repr: {', '.join(held)} cannot be written down (an array or a function)"]
    names = vars(mercer.kernels) | {type(part).__name__: type(part) for part in _all_parts(kernel)}
    read = eval(repr(kernel), dict(names))
    _require(read == kernel, kernel, f"reads back from its repr as {read!r}")
    return []


def _is_held(value: Any) -> bool:
    return holds_data(value) or (callable(value) and not isinstance(value, Kernel))


def _all_parts(kernel: Kernel) -> list[Kernel]:
    return [kernel, *(inner for part in kernel.parts() for inner in _all_parts(part))]
