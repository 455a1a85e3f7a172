"""Estimators whose parameters are values, which nested changes do not alter elsewhere."""

from __future__ import annotations

import inspect
from typing import Any, Self

from sklearn.base import BaseEstimator, clone


class ValueParameters(BaseEstimator):
    """Copies a part, such as a kernel, before ``set_params(input_kernel__scale=2.0)`` changes it.

    Parts are shared by defaults, estimators and the user, and would change for all of them.
    """

    def set_params(self, **params: Any) -> Self:
        """Set parameters, nested ones by ``part__parameter``."""
        for part in {name.partition("__")[0] for name in params if "__" in name} - params.keys():
            held = getattr(self, part, None)
            if isinstance(held, BaseEstimator):
                setattr(self, part, clone(held))
        return super().set_params(**params)

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        defaults = inspect.signature(type(self).__init__).parameters
        changed = [
            f"{name}={value!r}"
            for name, value in ((name, getattr(self, name)) for name in defaults if name != "self")
            if repr(value) != repr(defaults[name].default)
        ]
        return f"{type(self).__name__}({', '.join(changed)})"
