"""scikit-learn checks that some estimators fail by design."""

from mercer.kernels import Precomputed


def expected_failures(estimator):
    """The checks an estimator fails, with the reason."""
    reason = (
        "a median scale, leave-one-out and neighbours see repeated pairs; with fixed kernels and alpha weights are exact "
        "(test_weights_and_groups.py)"
    )
    found = {f"check_sample_weight_equivalence_on_{kind}_data": reason for kind in ("dense", "sparse")}
    if getattr(estimator, "input_kernel", None) == Precomputed():
        reason = "the check passes a matrix that is not positive semi-definite: refused by design"
        found |= {"check_positive_only_tag_during_fit": reason, "check_estimators_dtypes": reason}
    return found
