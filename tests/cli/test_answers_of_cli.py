"""Words of the command line: explanations, and notes without advice for Python."""

import warnings

from mercer.cli.answers import NO_SHARE, _because
from mercer.cli.console import noted
from mercer.uncertainty import Carrier, Explanation


def carrier(position, output, share):
    return Carrier(position, f"word {position}", output, share, 1.0, share)


def test_explanations_leave_out_shares_of_zero_and_name_the_empty_set():
    carriers = [
        carrier(0, frozenset(), 0.6),
        carrier(1, frozenset({"far"}), -0.3),
        carrier(2, frozenset({"near"}), -0.004),
    ]
    found = Explanation("x", frozenset(), carriers, 0.1)
    assert _because(found) == "+60% word 0 -> {}; -30% word 1 -> far"
    assert _because(Explanation("x", "", carriers[2:], 0.996)) == NO_SHARE


def test_notes_have_no_advice_about_parameters_of_python():
    told = []
    with noted(told.append):
        warnings.warn(
            "2 pairs are copies; they are left out together. Pass distinct pairs, with sample_weight", stacklevel=1
        )
        warnings.warn("some regions are infinite. Use more pairs", stacklevel=1)
    assert told == [
        "note: 2 pairs are copies; they are left out together",
        "note: some regions are infinite. Use more pairs",
    ]
