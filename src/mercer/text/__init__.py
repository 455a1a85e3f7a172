"""Text in, text out: what ``mercer fit`` and ``mercer predict`` do."""

from mercer.text.kernels import parse_kernel
from mercer.text.lines import BadLine, read_inputs, read_pairs
from mercer.text.model import TextModel
from mercer.text.presets import PRESETS, Preset

__all__ = ["PRESETS", "BadLine", "Preset", "TextModel", "parse_kernel", "read_inputs", "read_pairs"]
