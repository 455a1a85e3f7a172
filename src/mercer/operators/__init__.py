"""Operator-valued kernels, which model interactions of output features, and the joint kernels they induce."""

from mercer.operators.base import Operator, OperatorSpectrum, Outputs, SeparableOperator
from mercer.operators.blocks import BlockOperator
from mercer.operators.covariance import ConditionalCovariance, Covariance
from mercer.operators.entangled import Entangled, PartialTrace, partial_trace
from mercer.operators.entanglement import Entanglement, entanglement
from mercer.operators.features import Nystroem, RandomFourier
from mercer.operators.fields import CurlFree, DivergenceFree
from mercer.operators.identity import Identity
from mercer.operators.images import PatchwiseJoint, WindowedJoint
from mercer.operators.joint import (
    CoordinateJoint,
    DiagonalRegularizationJoint,
    InducedJoint,
    JointKernel,
    ScaledJoint,
    SumJoint,
    TensorProductJoint,
)
from mercer.operators.separable import Separable, SumOfSeparable, Transformable
from mercer.operators.smoothing import Smoothing, quadrature_weights, smoothing_matrix
from mercer.operators.valued import OperatorValuedKernel, ValuedJoint

__all__ = [
    "BlockOperator",
    "ConditionalCovariance",
    "CoordinateJoint",
    "Covariance",
    "CurlFree",
    "DiagonalRegularizationJoint",
    "DivergenceFree",
    "Entangled",
    "Entanglement",
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
    "entanglement",
    "partial_trace",
    "quadrature_weights",
    "smoothing_matrix",
]
