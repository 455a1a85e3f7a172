"""Old place of `alone`."""

from mercer.losses.base import alone

__all__ = ["alone"]
