"""The demonstration: complete a handwritten digit from its upper half."""

from mercer.cli.demo.command import run

__all__ = ["run"]
