"""Segmentation masks, pixel by pixel."""

from experiments.masks.masks import ImageToMask

__all__ = ["ImageToMask"]
