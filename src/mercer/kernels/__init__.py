"""Kernels on vectors, strings, classes, label sets, distances and anything else."""

from mercer.kernels._sparse import NumberedCounts as GraphCounts
from mercer.kernels._sparse import NumberedCounts as NearCounts
from mercer.kernels.algebra import Normalized, Product, Scaled, Sum
from mercer.kernels.base import Kernel, Prepared
from mercer.kernels.centering import Centered, CenteredAt, Clipped, ClippedAt
from mercer.kernels.classes import Classes
from mercer.kernels.composition import GaussianOf
from mercer.kernels.encodings import Encoded, Encoding, NormalScores, Projected, WordRows, ZScores
from mercer.kernels.features import FeatureMap, SparseFeatureMap
from mercer.kernels.graphs import FromGraKeL, GraphKernel, RandomWalk, ShortestPath, WeisfeilerLehman
from mercer.kernels.images import (
    Jittered,
    VirtualExamples,
    blurred,
    deslanted,
    gradient_histograms,
    shifted,
    turned,
    virtual_examples,
)
from mercer.kernels.labels import LabelSets
from mercer.kernels.laplacian import Laplacian
from mercer.kernels.matern import Matern
from mercer.kernels.molecules import NeutralLosses, Peaks, Tanimoto
from mercer.kernels.overlap import LabelsBySize, Overlap, OverlapOf
from mercer.kernels.part_by_part import PartByPart
from mercer.kernels.patches import Patches
from mercer.kernels.polynomial import Polynomial
from mercer.kernels.precomputed import FromDistances, FromDistancesAt, FromFunction, Precomputed
from mercer.kernels.rankings import Borda, Kemeny, Lehmer, RankHamming, RankingKernel
from mercer.kernels.strings.mismatch import Mismatch
from mercer.kernels.strings.ngrams import NGramCounts, Spectrum
from mercer.kernels.strings.sequences import Positions, Subsequence
from mercer.kernels.strings.weighted_degree import PlacedNGrams, WeightedDegree
from mercer.kernels.table_rows import TableRows
from mercer.kernels.tables import Columns
from mercer.kernels.trees import SubsetTree, Subtree, SubtreeCounts, TreeKernel
from mercer.kernels.vectors import Gaussian, Linear, VectorKernel

__all__ = [
    "Borda", "Centered", "CenteredAt", "Classes", "Clipped", "ClippedAt", "Columns", "Encoded", "Encoding",
    "FeatureMap", "FromDistances", "FromDistancesAt", "FromFunction", "FromGraKeL", "Gaussian", "GaussianOf", "GraphCounts",
    "GraphKernel", "Jittered", "Kemeny", "Kernel", "LabelSets", "LabelsBySize", "Laplacian", "Lehmer", "Linear", "Matern",
    "Mismatch", "NGramCounts", "NearCounts", "NeutralLosses", "NormalScores", "Normalized", "Overlap", "OverlapOf",
    "PartByPart", "Patches", "Peaks", "PlacedNGrams", "Polynomial", "Positions", "Precomputed", "Prepared", "Product",
    "Projected", "RandomWalk", "RankHamming", "RankingKernel", "Scaled", "ShortestPath", "SparseFeatureMap", "Spectrum",
    "Subsequence", "SubsetTree", "Subtree", "SubtreeCounts", "Sum", "TableRows", "Tanimoto", "TreeKernel", "VectorKernel",
    "VirtualExamples", "WeightedDegree", "WeisfeilerLehman", "WordRows", "ZScores", "blurred", "deslanted",
    "gradient_histograms", "shifted", "turned", "virtual_examples",
]  # fmt: skip
