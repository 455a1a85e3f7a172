"""Cells of files as numbers."""

import pytest

from mercer.io.types import Mistake, number


@pytest.mark.parametrize("value", [10**400, -(10**400), "9" * 400, "-inf", float("inf")])
def test_numbers_that_no_float_holds_are_mistakes(value):
    with pytest.raises(Mistake, match="expected a finite number"):
        number(value)
