"""Intervals, boxes, bands and ellipsoids for outputs that are vectors, and standard deviations of ridge predictions."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from mercer.core.arrays import Array, NumericalWarning, cached_property, namespace, to_numpy
from mercer.core.collections import Collection, count, to_backend_of
from mercer.core.validation import check_choice
from mercer.decoders import ClosedForm
from mercer.decoders.pool import LeftOut, left_out
from mercer.uncertainty.calibrated import CalibratedAnswers
from mercer.uncertainty.conformal import SLACK, check_coverage, left_out_shifts
from mercer.uncertainty.regions import Ellipsoids, Intervals, lengths, quantiles
from mercer.uncertainty.strata import KnownPairs, strata


class IntervalAnswers(CalibratedAnswers):
    """Regions that hold the right output, for estimators whose outputs are vectors."""

    def predict_interval(  # noqa: PLR0913 - each option is independent of the others
        self,
        X: Any,
        coverage: float = 0.9,
        method: str = "auto",
        simultaneous: bool = False,
        by: Any = None,
        weights: Any = None,
    ) -> Intervals:
        r"""Return an interval for each coordinate of each output that holds the right value with probability `coverage`.

        The interval is :math:`\hat y \pm q`, with q the :math:`\lceil (m+1)c \rceil`-th smallest of m absolute errors, each of a
        model that was not trained on its pair; `contains` has a slack of 1e-9 of the largest output for ties, which the width has
        not. For exchangeable pairs:

        ===================  =============================  =======================================
        calibrated by        probability, at least          cost
        ===================  =============================  =======================================
        pairs held out       c                              pairs that are not trained on
        pairs left out       no bound; c if one pair        none
        in turn              changes little
        ``"jackknife+"``     2c − 1, if no parameter was    n predictions for each input
                             chosen on the same pairs
        ===================  =============================  =======================================

        If pairs come in groups (of `fit`, or of `calibrate`), whole groups are left out, each group counts as one, and the
        probability is that for an input of a new group.

        Parameters
        ----------
        X : collection
            Inputs, as in `predict`.
        coverage : float, default=0.9
            Probability that an interval holds the right value.
        method : {"auto", "jackknife+"}
            "auto" uses the pairs held out, if `calibrate` was called, and otherwise leaves out the training pairs in turn.
            "jackknife+" takes the predictions of every fit without one pair, from weights and without refitting, and holds what
            was learned from the outputs (a kernel, an operator).
        simultaneous : bool, default=False
            True for boxes: all coordinates are inside at once with the given probability, as for a band around a curve. The
            score of a pair is its largest error, each divided by the root mean square left-out error of its coordinate, that of
            other pairs (of other groups).
        by : function of one input, or (labels of calibration pairs, labels of X), optional
            Inputs with different labels are calibrated apart, so that the probability holds for each label (Mondrian).
        weights : function of one input, or (weights of calibration pairs, weights of X), optional
            Density ratio of new to calibration inputs, up to a factor, under a shift of the inputs (weighted conformal).

        Returns
        -------
        Intervals
            ``lower, upper = model.predict_interval(X)``; it has `width` and `contains`.

        Examples
        --------
        >>> from mercer import OperatorValuedRidge
        >>> rng = np.random.default_rng(0)
        >>> X = rng.normal(size=(200, 1))
        >>> y = np.sin(X[:, 0]) + 0.1 * rng.normal(size=200)
        >>> model = OperatorValuedRidge().fit(X[:100], y[:100])
        >>> bool(model.predict_interval(X[100:], 0.9).contains(y[100:]).mean() > 0.85)
        True
        """
        check_choice(method, "method", ("auto", "jackknife+"))
        wanted, inputs, centers = self._asked(X, coverage)
        errors, pairs = self._errors(held_out=method == "auto")
        scores, scale, scales = np.abs(errors), np.ones(1), np.ones((len(errors), 1))
        if simultaneous:
            scale, scales = self._scale, self._scales_for(errors)
            scores = np.max(scores / scales, axis=1, keepdims=True)
        lower, upper = np.full(centers.shape, -np.inf), np.full(centers.shape, np.inf)
        fits = self._left_out_fits(inputs, centers) if method == "jackknife+" else None
        for stratum in strata(pairs, inputs, by, weights):
            known, new = stratum.known, stratum.new
            if fits is None:
                half = quantiles(scores[known], stratum.weights, stratum.own, wanted) * scale
                lower[new], upper[new] = centers[new] - half, centers[new] + half
                continue
            half = scores[known] * scales[known]
            for i, own in zip(new, stratum.own, strict=True):
                at = fits(int(i))[known]
                lower[i] = -quantiles(half - at, stratum.weights, own[None], wanted)[0]
                upper[i] = quantiles(half + at, stratum.weights, own[None], wanted)[0]
        self._warn_infinite(upper, wanted, pairs, by)
        slack = self._slack.reshape(self._codec.row_shape)
        return Intervals(self._shaped(lower), self._shaped(upper), bool(simultaneous), slack)

    def predict_ellipsoid(self, X: Any, coverage: float = 0.9, by: Any = None, weights: Any = None) -> Ellipsoids:
        """Return an ellipsoid around each prediction that holds the right output with probability `coverage`.

        Its shape is the covariance of left-out errors (shrunk by the rule of Ledoit and Wolf, after division of each coordinate
        by its root mean square), the score of a pair the length of its error in that metric, of other pairs if it is left out.
        The bounds are those of `predict_interval`, by pairs held out or left out in turn; so are `by` and `weights`.
        With few pairs for the number of coordinates, hold pairs out: those left out in turn covered .56 at .9 for 31 curves of
        53 points.
        """
        wanted, inputs, centers = self._asked(X, coverage)
        (errors, pairs), radii = self._errors(), np.full(len(centers), np.inf)
        factor, left_out = self._factor_of(self._left_out_errors_), errors is self._left_out_errors_
        if left_out and len(errors) < 2 * len(factor):
            few = f"{len(errors)} left-out errors of {len(factor)} coordinates do not tell the shape of an ellipsoid"
            warnings.warn(
                f"{few}, which may cover less than asked for; call calibrate(X, y)", NumericalWarning, stacklevel=2
            )
        scores = (self._left_out_lengths_ if left_out else lengths(factor, errors))[:, None]
        for stratum in strata(pairs, inputs, by, weights):
            radii[stratum.new] = quantiles(scores[stratum.known], stratum.weights, stratum.own, wanted)[:, 0]
        self._warn_infinite(radii, wanted, pairs, by)
        slack = float(np.sqrt(np.sum(lengths(factor, np.diag(self._slack)) ** 2)))
        return Ellipsoids(self._shaped(centers), factor, radii, slack)

    def _deviations(self, X: Any) -> np.ndarray:
        """Return the standard deviation of a new output at each input, for ridge learners."""
        inputs = self._require_vectors(X)
        find = getattr(self.map_, "variances", None)
        found = find(inputs) if find is not None and isinstance(self.decoder_, ClosedForm) else None
        if found is None or not (self.embedding_.coordinates_are_outputs or found[0].shape[1] == 1):
            raise ValueError(
                f"return_std=True, and {type(self).__name__} has no standard deviations here: they come from exact ridge "
                "regression onto vectors, with a separable operator and no missing outputs. Use predict_interval(X)"
            )
        new, left_out = found
        # the noise that makes the left-out errors as large as their standard deviations say
        noise = np.mean(self._left_out_errors_**2 / left_out, axis=0)
        return self._shaped(np.sqrt(new * noise))

    # -- errors of pairs that were not trained on ---------------------------------------------------------

    def _asked(self, X: Any, coverage: Any) -> tuple[float, Collection, np.ndarray]:
        wanted, inputs = check_coverage(coverage), self._require_vectors(X)
        points = to_backend_of(self.embedding_.outputs_, self.map_.points(inputs))
        return wanted, inputs, self._vectors(points)

    def _require_vectors(self, X: Any) -> Collection:
        inputs = self._inputs_of(X)
        if self._codec.row_shape is None:
            raise ValueError(
                f"the outputs are not vectors for output_kernel={self.output_kernel_!r}; use predict_set(X), which returns sets "
                "of objects"
            )
        return inputs

    def _vectors(self, points: Array, leave_out: np.ndarray | LeftOut | None = None) -> np.ndarray:
        found = to_numpy(self.decoder_.decode(points, leave_out))
        return found.reshape(len(found), -1)

    def _shaped(self, rows: np.ndarray) -> np.ndarray:
        return rows.reshape(len(rows), *self._codec.row_shape)

    @property
    def _training_vectors(self) -> np.ndarray:
        return to_numpy(self.embedding_.outputs_)[: self.embedding_.paired_].reshape(self.embedding_.paired_, -1)

    @cached_property
    def _left_out_errors_(self) -> np.ndarray:
        """Error of each training pair under the fit without it; NaN for missing outputs."""
        points = self.map_.left_out_points()
        missing = np.isnan(to_numpy(points))
        xp = namespace(points)
        points = to_backend_of(self.embedding_.outputs_, xp.where(xp.isnan(points), 0.0, points))
        errors = self._training_vectors - self._vectors(
            points, left_out(np.arange(points.shape[0]), self._groups_left_out)
        )
        if missing.any():
            errors[missing] = np.nan
        return errors

    @property
    def _scale(self) -> np.ndarray:
        """Root mean square of the left-out errors of each coordinate, above rounding."""
        return self._above_rounding(np.sqrt(np.nanmean(self._left_out_errors_**2, axis=0)))

    def _above_rounding(self, sizes: np.ndarray) -> np.ndarray:
        return np.maximum(sizes, np.where(self._slack, self._slack, 1.0))

    def _scales_for(self, errors: np.ndarray) -> np.ndarray:
        """The scale for each calibration pair, without its own error: few pairs would otherwise seem closer than they are."""
        left_out = self._left_out_errors_
        if errors is not left_out:
            return np.broadcast_to(self._scale, errors.shape)
        squares, known = np.nan_to_num(left_out**2), (~np.isnan(left_out)).astype(float)
        groups = self._left_out_groups
        rest, number = (
            part.sum(axis=0) - left_out_shifts(np.ones(len(part)), part, groups) for part in (squares, known)
        )
        return self._above_rounding(np.sqrt(np.maximum(rest, 0.0) / np.maximum(number, 1.0)))

    @property
    def _slack(self) -> np.ndarray:
        return SLACK * np.max(np.abs(self._training_vectors), axis=0)

    def _factor_of(self, errors: np.ndarray) -> np.ndarray:
        """A triangular factor of the covariance of errors."""
        from sklearn import config_context
        from sklearn.covariance import ledoit_wolf

        errors = errors[~np.isnan(errors).any(axis=1)]
        if len(errors) < 2:
            raise ValueError("fewer than three training outputs have every coordinate; use predict_interval(X)")
        scale = self._above_rounding(np.sqrt(np.mean(errors**2, axis=0)))
        with config_context(assume_finite=True, skip_parameter_validation=True):
            covariance = ledoit_wolf(errors / scale, assume_centered=True)[0]
        return scale[:, None] * np.linalg.cholesky(covariance + SLACK * np.eye(len(scale)))

    @cached_property
    def _left_out_lengths_(self) -> np.ndarray:
        """Length of each left-out error, in the metric of those of other pairs, or of other groups."""
        errors, groups = self._left_out_errors_, self._left_out_groups
        found = np.empty(len(errors))
        for group in np.unique(groups):
            own = groups == group
            found[own] = lengths(self._factor_of(errors[~own]), errors[own])
        return found

    def _errors(self, held_out: bool = True) -> tuple[np.ndarray, KnownPairs]:
        """Errors y − ŷ (m, p) of pairs that were not trained on, NaN for missing outputs, and what is known about the pairs."""
        pairs = self._known_pairs(held_out)
        if not held_out or self._held_out_ is None:
            return self._left_out_errors_, pairs
        points, outputs = self._held_out_
        return to_numpy(outputs).reshape(count(outputs), -1) - self._vectors(points), pairs

    @property
    def _left_out_groups(self) -> np.ndarray:
        groups = self._groups_left_out
        return np.arange(self.embedding_.paired_) if groups is None else groups

    def _left_out_fits(self, inputs: Collection, centers: np.ndarray) -> Any:
        """Return a function of i: the predictions (n, p) for the i-th input by the fits without one pair."""
        weights = self.map_.weights(inputs) if getattr(self.map_, "leaves_out_by_weights", False) else None
        if weights is None or not isinstance(self.decoder_, ClosedForm):
            raise ValueError(f"{type(self).__name__} has no jackknife+ here; use method='auto' or calibrate(X, y)")
        rows, groups, box = to_numpy(weights), self._groups_left_out, self.decoder_.box_
        low, high = to_numpy(box.low)[0], to_numpy(box.high)[0]
        errors, free = self._left_out_errors_, centers
        if np.isfinite(low).any() or np.isfinite(high).any():
            # the fits without one pair add up before they are moved into the box
            decoder = ClosedForm().fit(self.embedding_)
            outputs = self.embedding_.outputs_
            free = to_numpy(decoder.decode(to_backend_of(outputs, self.map_.points(inputs))))
            left_out = to_numpy(decoder.decode(to_backend_of(outputs, self.map_.left_out_points())))
            errors = self._training_vectors - left_out
        return lambda i: np.clip(free[i] - left_out_shifts(rows[i], errors, groups), low, high)

    def _warn_infinite(self, ends: np.ndarray, wanted: float, pairs: KnownPairs, by: Any) -> None:
        if np.isinf(ends).any():
            named = pairs.groups if pairs.groups is self._held_groups_ else self._groups
            unit = "pairs" if named is None else "groups"
            number = pairs.size if pairs.groups is None else len(np.unique(pairs.groups))
            copies = " (copies count as one)" if named is None and number < pairs.size else ""
            known = f"{'' if by is None else 'those of its label among '}{number} calibration {unit}{copies}"
            message = f"coverage={wanted:g} cannot be promised for every input by {known}: some regions are infinite"
            warnings.warn(f"{message}. Use more {unit}", NumericalWarning, stacklevel=3)
