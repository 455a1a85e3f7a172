"""The demonstration: complete a handwritten digit from its upper half."""

from mercer.demo.command import run

__all__ = ["run"]
