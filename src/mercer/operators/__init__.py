"""Operator-valued kernels: how output features act on each other, and the joint kernels they induce."""

from mercer.operators.base import Operator, OperatorSpectrum, Outputs, SeparableOperator
from mercer.operators.blocks import BlockOperator
from mercer.operators.covariance import ConditionalCovariance, Covariance
from mercer.operators.entangled import Entangled
from mercer.operators.features import Nystroem
from mercer.operators.fields import CurlFree, DivergenceFree
from mercer.operators.identity import Identity
from mercer.operators.induced import InducedJoint
from mercer.operators.joint import (
    CoordinateJoint,
    DiagonalRegularizationJoint,
    JointKernel,
    ScaledJoint,
    SumJoint,
    TensorProductJoint,
)
from mercer.operators.partial_trace import PartialTrace, partial_trace
from mercer.operators.patchwise import PatchwiseJoint
from mercer.operators.random_features import RandomFourier
from mercer.operators.separable import Separable, SumOfSeparable
from mercer.operators.smoothing import Smoothing, quadrature_weights, smoothing_matrix
from mercer.operators.transformable import Transformable
from mercer.operators.valued import OperatorValuedKernel, ValuedJoint
from mercer.operators.windowed import WindowedJoint

__all__ = [
    "BlockOperator",
    "ConditionalCovariance",
    "CoordinateJoint",
    "Covariance",
    "CurlFree",
    "DiagonalRegularizationJoint",
    "DivergenceFree",
    "Entangled",
    "Identity",
    "InducedJoint",
    "JointKernel",
    "Nystroem",
    "Operator",
    "OperatorSpectrum",
    "OperatorValuedKernel",
    "Outputs",
    "PartialTrace",
    "PatchwiseJoint",
    "RandomFourier",
    "ScaledJoint",
    "Separable",
    "SeparableOperator",
    "Smoothing",
    "SumJoint",
    "SumOfSeparable",
    "TensorProductJoint",
    "Transformable",
    "ValuedJoint",
    "WindowedJoint",
    "partial_trace",
    "quadrature_weights",
    "smoothing_matrix",
]
