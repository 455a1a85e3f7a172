"""Names that the options of the command take; plain text, so that help comes at once."""

LOSSES = ("zero-one", "f1", "jaccard", "iou", "edit", "hamming", "kendall", "squared", "kernel")
EFFORTS = ("fast", "balanced", "best")
PRESETS = ("auto", "strings", "aligned", "labels", "neighbors")
KERNELS = ("spectrum", "subsequence", "mismatch", "weighted-degree", "positions", "classes")
TOKENS = ("input", "output", "both")
ALPHAS = ("loo", "gcv", "kfold")


def listed(names: tuple[str, ...]) -> str:
    """Return names as a phrase, such as ``a, b or c``."""
    return f"{', '.join(names[:-1])} or {names[-1]}"
