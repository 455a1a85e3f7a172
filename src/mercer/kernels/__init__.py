"""What "similar" means: kernels on vectors, strings, classes, label sets, distances and anything else."""

from mercer.kernels.algebra import Normalized, Product, Scaled, Sum
from mercer.kernels.base import Kernel
from mercer.kernels.centering import Centered, CenteredAt
from mercer.kernels.classes import Classes
from mercer.kernels.clipping import Clipped, ClippedAt
from mercer.kernels.composition import GaussianOf
from mercer.kernels.distances import FromDistances, FromDistancesAt
from mercer.kernels.features import FeatureMap, SparseFeatureMap
from mercer.kernels.functions import FromFunction
from mercer.kernels.images import Jittered, blurred, deslanted, gradient_histograms, shifted
from mercer.kernels.labels import LabelSets
from mercer.kernels.ngrams import NGramCounts, Spectrum
from mercer.kernels.overlap import LabelsBySize, Overlap
from mercer.kernels.part_by_part import PartByPart
from mercer.kernels.patches import Patches
from mercer.kernels.precomputed import Precomputed
from mercer.kernels.rankings import Borda, Kemeny, Lehmer, RankHamming, RankingKernel
from mercer.kernels.sequences import Positions, Subsequence
from mercer.kernels.vectors import Gaussian, Laplacian, Linear, Polynomial, VectorKernel

__all__ = [
    "Borda",
    "Centered",
    "CenteredAt",
    "Classes",
    "Clipped",
    "ClippedAt",
    "FeatureMap",
    "FromDistances",
    "FromDistancesAt",
    "FromFunction",
    "Gaussian",
    "GaussianOf",
    "Jittered",
    "Kemeny",
    "Kernel",
    "LabelSets",
    "LabelsBySize",
    "Laplacian",
    "Lehmer",
    "Linear",
    "NGramCounts",
    "Normalized",
    "Overlap",
    "PartByPart",
    "Patches",
    "Polynomial",
    "Positions",
    "Precomputed",
    "Product",
    "RankHamming",
    "RankingKernel",
    "Scaled",
    "SparseFeatureMap",
    "Spectrum",
    "Subsequence",
    "Sum",
    "VectorKernel",
    "blurred",
    "deslanted",
    "gradient_histograms",
    "shifted",
]
