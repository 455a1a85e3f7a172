"""Arrays of any library that follows the array API, and the algebra the array API leaves out."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Protocol, TypeGuard

import array_api_compat.numpy
import numpy as np
import scipy.linalg
from array_api_compat import (
    array_namespace,
    device,
    is_array_api_obj,
    is_numpy_array,
    is_numpy_namespace,
    is_torch_array,
    is_torch_namespace,
)
from scipy.sparse import csr_array, issparse

if TYPE_CHECKING:
    from functools import cached_property
else:

    class cached_property(functools.cached_property):
        """A property that is computed once and kept; of several threads that compute it, the first decides.

        Before Python 3.12 that of `functools` holds a lock, one for all objects: threads with models of their own wait for each
        other, and a process that is forked meanwhile waits for ever.

        Examples
        --------
        >>> class Square:
        ...     side = 3.0
        ...     area = cached_property(lambda self: self.side**2)
        >>> square = Square()
        >>> square.area, vars(square)
        (9.0, {'area': 9.0})
        """

        def __get__(self, instance: Any, owner: Any = None) -> Any:
            return self if instance is None else vars(instance).setdefault(self.attrname, self.func(instance))


class Collection(Protocol):
    """A checked collection of objects: an array whose first axis counts them, of numbers or of objects."""

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of objects and, where they are rows of numbers, the shape of one."""

    @property
    def ndim(self) -> int:
        """The number of axes."""

    @property
    def dtype(self) -> Any:
        """The type of the entries."""

    @property
    def T(self) -> Any:
        """The transpose."""

    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[Any]: ...
    def __getitem__(self, index: Any, /) -> Any: ...


class Array(Collection, Protocol):
    """An array of numbers of any library that follows the array API."""

    def __setitem__(self, index: Any, value: Any, /) -> None: ...
    def __add__(self, other: Any, /) -> Any: ...
    def __radd__(self, other: Any, /) -> Any: ...
    def __sub__(self, other: Any, /) -> Any: ...
    def __rsub__(self, other: Any, /) -> Any: ...
    def __mul__(self, other: Any, /) -> Any: ...
    def __rmul__(self, other: Any, /) -> Any: ...
    def __truediv__(self, other: Any, /) -> Any: ...
    def __rtruediv__(self, other: Any, /) -> Any: ...
    def __matmul__(self, other: Any, /) -> Any: ...
    def __pow__(self, other: Any, /) -> Any: ...
    def __neg__(self) -> Any: ...
    def __lt__(self, other: Any, /) -> Any: ...
    def __le__(self, other: Any, /) -> Any: ...
    def __gt__(self, other: Any, /) -> Any: ...
    def __ge__(self, other: Any, /) -> Any: ...
    def __float__(self) -> float: ...


class NumericalWarning(UserWarning):
    """A numerical correction (clipping, a shift, a truncation); the message gives its size."""


def is_array(a: object) -> bool:
    """Return whether `a` is an array of a library that can be calculated with."""
    return is_array_api_obj(a)


def is_sparse(a: object) -> TypeGuard[csr_array]:
    """Return whether `a` is a sparse array or matrix of SciPy, in any format."""
    return issparse(a)


def namespace(*arrays: Any) -> Any:
    """Return the array-API namespace shared by `arrays`; NumPy's for lists, frames and other objects."""
    known = [a for a in arrays if is_array(a)]
    return array_namespace(*known) if known else array_api_compat.numpy


def to_numpy(a: Any) -> np.ndarray:
    """Return a NumPy copy or view of an array from any library."""
    if is_torch_array(a):
        return a.detach().cpu().numpy()
    if is_numpy_array(a):
        return np.asarray(a)
    return np.from_dlpack(a) if hasattr(a, "__dlpack__") else np.asarray(a)


def like(a: Any, reference: Any) -> Any:
    """Return `a` in the library and on the device of `reference`, with its own dtype."""
    xp = array_namespace(reference)
    if is_array(a) and array_namespace(a) == xp and (is_numpy_array(a) or device(a) == device(reference)):
        return a
    if is_numpy_namespace(xp):
        return to_numpy(a)
    return xp.asarray(to_numpy(a), device=device(reference))


def on_device(a: Any, where: str | None) -> Any:
    """Return `a` as a torch tensor on the device named `where`, or `a` itself if that is None."""
    if where is None:
        return a
    try:
        import torch
    except ImportError as error:
        raise ImportError(
            f"device={where!r} needs PyTorch, which is not installed; run 'pip install mercer[gpu]', "
            "or leave device=None to calculate with NumPy"
        ) from error
    try:
        torch.empty(0, device=where)
    except (AssertionError, RuntimeError) as error:
        reason = str(error).splitlines()[0]
        raise ValueError(
            f"device={where!r} is not there ({reason}); leave device=None to calculate with NumPy"
        ) from error
    tensor = a if is_torch_array(a) else torch.from_numpy(np.ascontiguousarray(to_numpy(a)))
    if where.startswith("cuda") and tensor.device.type == "cpu":
        return tensor.pin_memory().to(where, non_blocking=True)  # the host goes on while the copy travels
    return tensor.to(where)


def float64(a: Any) -> Any:
    """Return `a` in double precision."""
    xp = array_namespace(a)
    return a if a.dtype == xp.float64 else xp.astype(a, xp.float64)


def zeros(shape: tuple[int, ...], reference: Any) -> Any:
    """Return zeros with the library, dtype and device of `reference`."""
    return array_namespace(reference).zeros(shape, dtype=reference.dtype, device=device(reference))


def eye(n: int, reference: Any) -> Any:
    """Return the identity matrix with the library, dtype and device of `reference`."""
    return array_namespace(reference).eye(n, dtype=reference.dtype, device=device(reference))


def exp(a: Any) -> Array:
    """Return exp(a), in place if the library can."""
    xp = array_namespace(a)
    if is_numpy_namespace(xp):
        return np.exp(a, out=a)
    return a.exp_() if is_torch_namespace(xp) else xp.exp(a)


_COPIED = 1000
"""Most rows of a matrix that is copied before it is decomposed."""


def eigh(a: Any) -> tuple[Array, Array]:
    """Return the eigenvalues (ascending) and eigenvectors of a symmetric matrix; may overwrite `a`."""
    xp = array_namespace(a)
    # NumPy and SciPy bring BLAS threads of their own, and those of matrix products keep the cores for a while: NumPy's
    # decomposition does not wait for them, SciPy's needs no copy
    if is_numpy_namespace(xp) and a.shape[0] > _COPIED:
        # LAPACK works in the order of columns: the transpose, the same matrix, is not copied
        matrix = a.T if a.flags.c_contiguous else a
        return scipy.linalg.eigh(matrix, overwrite_a=True, check_finite=False, driver="evd")
    return tuple(xp.linalg.eigh(a))


def solve_triangular(lower: Any, b: Any, *, transpose: bool = False) -> Array:
    """Solve `lower x = b`, or `lowerᵀ x = b`, for a lower triangular matrix."""
    xp = array_namespace(lower)
    if is_numpy_namespace(xp):
        if b.ndim == 2 and b.flags.c_contiguous and lower.dtype == b.dtype == np.float64:
            # the transposes are in the order BLAS works in: xᵀ lowerᵀ = bᵀ
            return scipy.linalg.blas.dtrsm(1.0, lower.T, b.T, side=1, lower=0, trans_a=int(transpose)).T
        if b.ndim == 2 and b.flags.f_contiguous and lower.dtype == b.dtype == np.float64:
            return scipy.linalg.blas.dtrsm(1.0, lower.T, b, side=0, lower=0, trans_a=int(not transpose))
        return scipy.linalg.solve_triangular(lower, b, lower=True, trans="T" if transpose else "N", check_finite=False)
    matrix = lower.T if transpose else lower
    if is_torch_namespace(xp):
        import torch

        return torch.linalg.solve_triangular(matrix, b, upper=transpose)
    return xp.linalg.solve(matrix, b)


def cholesky(a: Any) -> Array:
    """Return the lower Cholesky factor of `a`, which may be overwritten; raise LinAlgError if it is not positive definite."""
    xp = array_namespace(a)
    if is_numpy_namespace(xp):
        if a.shape[0] > _TILED:
            return _tiled_cholesky(a)
        # the transpose is Fortran-ordered, so LAPACK works in place; it fills the upper triangle of aᵀ
        factor, info = scipy.linalg.lapack.dpotrf(a.T, lower=0, clean=1, overwrite_a=1)
        if info != 0:
            raise np.linalg.LinAlgError(f"leading minor {info} is not positive definite")
        return factor.T
    try:
        return _blocked_cholesky(a) if is_torch_array(a) and a.shape[0] > _PANEL else xp.linalg.cholesky(a)
    except RuntimeError as error:  # torch raises its own subclass of RuntimeError
        raise np.linalg.LinAlgError(str(error)) from error


_TILED, _TILE = 8192, 2048
"""Most rows that LAPACK factors in one call, and the rows of a tile beyond: OpenBLAS on two threads crashes at 16,000 rows."""


def _tiled_cholesky(a: np.ndarray) -> np.ndarray:
    """The lower Cholesky factor of an array, in its own memory, tile by tile."""
    tiles = [slice(start, min(start + _TILE, len(a))) for start in range(0, len(a), _TILE)]
    for place, own in enumerate(tiles):
        later = tiles[place + 1 :]
        try:
            a[own, own] = cholesky(np.array(a[own, own]))
        except np.linalg.LinAlgError as error:
            raise np.linalg.LinAlgError(f"{error}, of the rows from {own.start} on") from error
        factor = np.array(a[own, own])
        for rows in later:
            a[rows, own] = solve_triangular(factor, np.ascontiguousarray(a[rows, own].T)).T
        for some, columns in enumerate(later):
            for rows in later[some:]:
                a[rows, columns] -= a[rows, own] @ a[columns, own].T
        a[own, own.stop :] = 0.0
    return a


_PANEL = 4096
"""Columns of a Cholesky factor that are made at a time in the memory of the matrix."""


def _blocked_cholesky(a: Any) -> Any:
    """The lower Cholesky factor of a tensor, in its own memory: PyTorch's makes copies."""
    import torch

    n = a.shape[0]
    for start in range(0, n, _PANEL):
        stop = min(start + _PANEL, n)
        own = torch.linalg.cholesky(a[start:stop, start:stop])
        a[start:stop, start:stop] = own
        if stop == n:
            break
        panel = torch.linalg.solve_triangular(own.T, a[stop:, start:stop], upper=True, left=False)
        a[stop:, start:stop] = panel
        for first in range(0, n - stop, _PANEL):
            some = slice(first, first + _PANEL)
            a[stop + first :, stop:][:, some].addmm_(panel[first:, :], panel[some, :].T, alpha=-1.0)
    return a.tril_()


def gram_of(rows: Any) -> Array:
    """Return the Gram matrix of the columns, rowsᵀ rows, from one triangle of it."""
    if not is_torch_array(rows) or rows.shape[1] <= _PANEL:
        return rows.T @ rows  # NumPy sees that both sides are one matrix
    size = rows.shape[1]
    gram = zeros((size, size), rows)
    for start in range(0, size, _PANEL):
        some = slice(start, min(start + _PANEL, size))
        gram[start:, some] = rows[:, start:].T @ rows[:, some]
        gram[some, some.stop :] = gram[some.stop :, some].T
    return gram


def add_to_diagonal(a: Any, value: float) -> Array:
    """Return a + value·I, in place if the library can."""
    xp = array_namespace(a)
    if is_numpy_namespace(xp):
        a.ravel(order="K")[:: a.shape[0] + 1] += value
        return a
    if is_torch_namespace(xp):
        a.diagonal().add_(value)
        return a
    return a + value * eye(a.shape[0], a)


def clip_spectrum(values: Array, name: str, *, tolerance: float = 1e-6, scale: float = 0.0) -> Array:
    """Return the eigenvalues of a Gram matrix, negative ones set to zero.

    Those below zero by more than rounding (n·ε of the largest, or of `scale`) raise a `NumericalWarning`, and those below
    `tolerance` of the largest a ValueError.
    """
    lowest, highest = float(values[0]), float(values[-1])
    rounding = values.shape[0] * float(array_namespace(values).finfo(values.dtype).eps) * max(highest, scale, 0.0)
    require_positive(lowest, highest, rounding, name, tolerance)
    if lowest < -rounding:
        warnings.warn(
            f"{name} has a slightly negative eigenvalue, {lowest:.3g} (largest {highest:.3g}); "
            "negative eigenvalues were set to zero",
            NumericalWarning,
            stacklevel=3,
        )
    return array_namespace(values).clip(values, 0.0, None)


def require_positive(lowest: float, highest: float, rounding: float, name: str, tolerance: float = 1e-6) -> None:
    """Raise ValueError if the smallest eigenvalue is below zero by more than `rounding` and `tolerance` of the largest."""
    if lowest < -max(tolerance * highest, rounding) or highest < 0:
        raise ValueError(not_psd_message(name, lowest, highest))


def not_psd_message(name: str, lowest: float, highest: float) -> str:
    """Return the message for a Gram matrix that is not positive semi-definite."""
    return (
        f"{name} is not positive semi-definite: its smallest eigenvalue is {lowest:.6g} (the largest is "
        f"{highest:.6g}). Expected a valid kernel; kernel.clipped() takes its positive part, "
        "and mercer.kernels.FromDistances is for distances"
    )
