"""Operator-valued kernels: how output features act on each other."""

from mercer.operators.base import Operator, OperatorSpectrum, Outputs
from mercer.operators.covariance import ConditionalCovariance, Covariance
from mercer.operators.identity import Identity

__all__ = ["ConditionalCovariance", "Covariance", "Identity", "Operator", "OperatorSpectrum", "Outputs"]
