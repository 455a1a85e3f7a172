"""Kernel principal components of any objects, and back."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_array, check_is_fitted

from mercer.core.arrays import Array, is_sparse, like, to_numpy
from mercer.core.collections import Collection, as_objects, count, listed
from mercer.core.validation import check_instance, check_real, check_whole
from mercer.decoders.base import best
from mercer.embeddings.spectral import PrincipalComponents
from mercer.estimators.base import choose_decoder
from mercer.estimators.data import check_inputs
from mercer.estimators.values import ValueParameters
from mercer.kernels import Gaussian
from mercer.kernels.base import Kernel
from mercer.kernels.grams import centred


class KernelPCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ValueParameters):
    r"""Kernel principal components of objects, and objects from components by the decoders of the library.

    .. math:: z_a(x) = \langle v_a,\, \phi(x) - \bar\phi \rangle, \qquad
        \hat x(z) = \arg\min_x \bigl\| \phi(x) - \bar\phi - \textstyle\sum_a z_a v_a \bigr\|^2

    Where scikit-learn's `KernelPCA` learns a regression from components back to vectors, `inverse_transform` solves the
    pre-image problem: by a mean-shift iteration for Gaussian kernels (Mika et al. 1999), in closed form for linear ones, and
    among the training objects, or given candidates, for strings, graphs and all others, which are compared in the kept
    components. Compress by keeping the components, denoise by ``inverse_transform(transform(X))``.

    Parameters
    ----------
    kernel : Kernel, default=Gaussian(scale="median")
        Similarity of objects.
    n_components : int, optional
        Keep at most so many.
    cutoff : float, default=0.0
        Drop components whose eigenvalue is below this share of the largest; rounding is always dropped.
    decoder : "auto" or Decoder, default="auto"
        Turns components into objects.

    Attributes
    ----------
    eigenvalues_ : array (n_components,)
        Squared lengths of the training objects along each component, largest first.
    explained_variance_ratio_ : array (n_components,)
        Shares of all of it.
    kernel_, embedding_, decoder_ : Kernel, PrincipalComponents, Decoder
        The parts in use.
    reasons_ : dict
        The reason for the decoder.

    Examples
    --------
    >>> from mercer.kernels import Subsequence
    >>> words = ["recieve", "receive", "separate", "seperate", "desperate"]
    >>> model = KernelPCA(Subsequence(2).normalized(), n_components=2).fit(words)
    >>> model.transform(["seprate"]).shape
    (1, 2)
    >>> model.inverse_transform(model.transform(["desprate"]))
    array(['seperate'], dtype=object)
    """

    def __init__(
        self,
        kernel: Kernel = Gaussian(scale="median"),  # noqa: B008 - kernels are values; fit never changes them
        n_components: int | None = None,
        cutoff: float = 0.0,
        decoder: Any = "auto",
    ) -> None:
        self.kernel = kernel
        self.n_components = n_components
        self.cutoff = cutoff
        self.decoder = decoder

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the components of the objects `X`; `y` is ignored."""
        check_instance(self.kernel, "kernel", Kernel, expected="one of mercer.kernels, such as Gaussian()")
        check_real(self.cutoff, "cutoff", 0, 1, closed="left", expected="a number from 0 to below 1")
        if self.n_components is not None:
            check_whole(self.n_components, "n_components")
        if self.kernel.pairwise:
            raise ValueError(f"kernel={self.kernel!r} is a Gram matrix; expected Precomputed(gram), on positions")
        if is_sparse(X):
            raise TypeError("X is sparse, and components lead back to dense rows; expected a dense array, X.toarray()")
        shape = tuple(np.shape(X)[1:]) if getattr(X, "ndim", 1) > 2 else None
        objects = check_inputs(self, listed(X), self.kernel, reset=True)
        if count(objects) < 2:
            raise ValueError("X has 1 sample, which has no components; expected 2 or more")
        kernel = self.kernel.resolve(objects)
        embedding = PrincipalComponents(self.cutoff, self.n_components).fit(kernel, objects)
        decoder, reason = choose_decoder(self.decoder, kernel, None, objects)
        decoder.fit(embedding, None)
        if decoder.needs_left_out_points:
            decoder.calibrate(embedding.coordinates_)
        values = to_numpy(embedding.values_)
        total = float(np.trace(to_numpy(centred(kernel(objects)))))
        self.kernel_, self.embedding_, self.decoder_ = kernel, embedding, decoder
        self.eigenvalues_, self.explained_variance_ratio_ = values, values / max(total, float(values.sum()))
        self.reasons_, self._shape = {"decoder": reason}, shape
        return self

    def transform(self, X: Any) -> Array:
        """Return the components of each object, one row each."""
        check_is_fitted(self, "embedding_")
        objects = check_inputs(self, listed(X), self.kernel_, reset=False)
        return self.embedding_.transform(objects)

    def inverse_transform(self, Z: Any, candidates: Any = None) -> Any:
        """Return an object for each row of components: of any kind the decoder makes, or the best of the candidates."""
        check_is_fitted(self, "embedding_")
        points = like(check_array(to_numpy(Z), dtype=np.float64), self.embedding_.coordinates_)
        width = len(self.eigenvalues_)
        if points.shape[1] != width:
            raise ValueError(f"Z has {points.shape[1]} columns; expected {width}, the number of components")
        if candidates is None:
            found = self.decoder_.decode(points)
        else:
            found = best(self.decoder_.choose(points, self.kernel_.check(listed(candidates), "candidates")))
        return self._shaped(found)

    def _shaped(self, found: Collection) -> Any:
        if not self.kernel_.takes_vectors:
            return as_objects(list(found))
        rows: Any = found
        if getattr(found, "ndim", 1) < 2:
            rows = np.stack([to_numpy(each) for each in found])
        return rows if self._shape is None else rows.reshape(len(rows), *self._shape)

    @property
    def _n_features_out(self) -> int:
        return len(self.eigenvalues_)

    def __sklearn_tags__(self) -> Tags:
        """Return the tags, which follow from the kernel."""
        tags, kernel = super().__sklearn_tags__(), self.kernel
        tables = tags.input_tags.allow_nan = tags.input_tags.categorical = getattr(kernel, "takes_tables", False)
        tags.input_tags.two_d_array = getattr(kernel, "takes_vectors", False) or tables
        tags.input_tags.string = not tags.input_tags.two_d_array
        tags.transformer_tags.preserves_dtype = []
        return tags
