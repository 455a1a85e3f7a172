"""Arrays of any backend: NumPy by default, anything that follows the array API otherwise.

The numeric code of the library is written against the namespace this module hands out, so a torch tensor that
goes in comes out as a torch tensor. What the array API leaves out (triangular solves, in-place work, moving an
array to another library) is here, once.
"""

from __future__ import annotations

import warnings
from typing import Any

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

Array = Any
"""An array of any library that follows the array API."""


class NumericalWarning(UserWarning):
    """Something numerical was mended (clipped, shifted, truncated); the message says what and by how much."""


def namespace(*arrays: Array) -> Any:
    """The array-API namespace shared by `arrays`; NumPy for lists, frames and other things that are no arrays."""
    known = [a for a in arrays if is_array_api_obj(a)]
    if not known:
        import array_api_compat.numpy as xp

        return xp
    return array_namespace(*known)


def is_array(a: object) -> bool:
    """Whether `a` is an array of a library we know how to calculate with."""
    return is_array_api_obj(a)


def to_numpy(a: Array) -> np.ndarray:
    """A NumPy copy or view of an array from any backend."""
    if is_torch_array(a):
        return a.detach().cpu().numpy()
    if is_numpy_array(a):
        return np.asarray(a)
    return np.from_dlpack(a) if hasattr(a, "__dlpack__") else np.asarray(a)


def like(a: Array, reference: Array) -> Array:
    """`a` as an array of the library, on the device, of `reference`; the dtype of `a` is kept."""
    xp = array_namespace(reference)
    if is_array(a) and array_namespace(a) == xp and (is_numpy_array(a) or device(a) == device(reference)):
        return a
    if is_numpy_namespace(xp):
        return to_numpy(a)
    return xp.asarray(to_numpy(a), device=device(reference))


def on_device(a: Array, where: str | None) -> Array:
    """`a` as a torch tensor on the device named `where`; `a` itself when no device is named."""
    if where is None:
        return a
    try:
        import torch
    except ImportError as error:
        raise ImportError(
            f"device={where!r} needs PyTorch, which is not installed; run 'pip install mercer[gpu]', "
            "or leave device=None to calculate with NumPy"
        ) from error
    tensor = a if is_torch_array(a) else torch.from_numpy(np.ascontiguousarray(to_numpy(a)))
    return tensor.to(where)


def float64(a: Array) -> Array:
    """`a` in double precision, in which all algebra of the library is done."""
    xp = array_namespace(a)
    return a if a.dtype == xp.float64 else xp.astype(a, xp.float64)


def zeros(shape: tuple[int, ...], reference: Array) -> Array:
    """Zeros in the library, dtype and on the device of `reference`."""
    return array_namespace(reference).zeros(shape, dtype=reference.dtype, device=device(reference))


def eye(n: int, reference: Array) -> Array:
    """The identity matrix in the library, dtype and on the device of `reference`."""
    return array_namespace(reference).eye(n, dtype=reference.dtype, device=device(reference))


def exp(a: Array) -> Array:
    """exp(a), overwriting `a` where the library can (an n×n temporary saved)."""
    xp = array_namespace(a)
    if is_numpy_namespace(xp):
        return np.exp(a, out=a)
    return a.exp_() if is_torch_namespace(xp) else xp.exp(a)


_COPIED = 1000
"""Rows of a matrix that is not worth decomposing in place."""


def eigh(a: Array) -> tuple[Array, Array]:
    """Eigenvalues (ascending) and eigenvectors of a symmetric matrix; may overwrite `a`."""
    xp = array_namespace(a)
    # NumPy and SciPy bring BLAS threads of their own, and those of matrix products keep the cores for a while: NumPy's
    # decomposition does not wait for them, SciPy's needs no copy
    if is_numpy_namespace(xp) and a.shape[0] > _COPIED:
        # LAPACK works in the order of columns: the transpose, the same matrix, is not copied
        matrix = a.T if a.flags.c_contiguous else a
        return scipy.linalg.eigh(matrix, overwrite_a=True, check_finite=False, driver="evd")
    values, vectors = xp.linalg.eigh(a)
    return values, vectors


def solve_triangular(lower: Array, b: Array, *, transpose: bool = False) -> Array:
    """Solve `lower x = b`, or `lowerᵀ x = b`, for a lower triangular matrix."""
    xp = array_namespace(lower)
    if is_numpy_namespace(xp):
        return scipy.linalg.solve_triangular(lower, b, lower=True, trans="T" if transpose else "N", check_finite=False)
    if is_torch_namespace(xp):
        import torch

        matrix = lower.T if transpose else lower
        return torch.linalg.solve_triangular(matrix, b, upper=transpose)
    return xp.linalg.solve(lower.T if transpose else lower, b)


def cholesky(a: Array) -> Array:
    """The lower Cholesky factor of a positive definite matrix; may overwrite `a`.

    Raises `numpy.linalg.LinAlgError`, whatever the backend, when `a` is not positive definite.
    """
    xp = array_namespace(a)
    if is_numpy_namespace(xp):
        # The transpose is Fortran-ordered, so LAPACK works in place; it fills the upper triangle of aᵀ.
        factor, info = scipy.linalg.lapack.dpotrf(a.T, lower=0, clean=1, overwrite_a=1)
        if info != 0:
            raise np.linalg.LinAlgError(f"leading minor {info} is not positive definite")
        return factor.T
    try:
        return xp.linalg.cholesky(a)
    except np.linalg.LinAlgError:
        raise
    except RuntimeError as error:  # torch raises its own subclass of RuntimeError
        raise np.linalg.LinAlgError(str(error)) from error


def add_to_diagonal(a: Array, value: float) -> Array:
    """`a + value·I`, in place where the library can."""
    xp = array_namespace(a)
    if is_numpy_namespace(xp):
        a.ravel(order="K")[:: a.shape[0] + 1] += value
        return a
    if is_torch_namespace(xp):
        a.diagonal().add_(value)
        return a
    return a + value * eye(a.shape[0], a)


def clip_spectrum(values: Array, name: str, *, tolerance: float = 1e-6) -> Array:
    """Eigenvalues of a Gram matrix with those below zero set to zero, never silently.

    Below zero by rounding (n·ε of the largest) is rounding. Up to `tolerance` of the largest they are clipped with a
    `NumericalWarning`. Beyond it the matrix is no Gram matrix, and that is an error.
    """
    lowest, highest = float(values[0]), float(values[-1])
    rounding = values.shape[0] * float(array_namespace(values).finfo(values.dtype).eps) * max(highest, 0.0)
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
    """Raise if the smallest eigenvalue of a Gram matrix is below zero by more than `rounding` and than `tolerance` allows."""
    if lowest < -max(tolerance * highest, rounding) or highest < 0:
        raise ValueError(not_psd_message(name, lowest, highest))


def not_psd_message(name: str, lowest: float, highest: float) -> str:
    """What to say of a matrix that should be a Gram matrix and is not."""
    return (
        f"{name} is not positive semi-definite: its smallest eigenvalue is {lowest:.6g} (the largest is "
        f"{highest:.6g}). Expected a valid kernel; kernel.clipped() takes its positive part, "
        "and mercer.kernels.FromDistances is for distances"
    )
