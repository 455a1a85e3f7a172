"""Graphs of molecules from their SMILES, chosen among training graphs or constructed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from experiments.experiment import Experiment, Outcome, Piece, mean_row
from experiments.protocol import best_by_leave_one_out, paper_estimator
from mercer.datasets import load_qm9
from mercer.decoders import Barycenter, Candidates, Decoder
from mercer.estimators import NeighborsEstimator
from mercer.kernels import GaussianOf, Spectrum, WeisfeilerLehman
from mercer.report import Table, section, table_html
from mercer.structures.graphs import networkx

NEIGHBOURS = "nearest SMILES"
CANDIDATES = "ridge, nearest training graph"
BUILT = "ridge, barycentre alone"
CHANGED = "ridge, nearest training graph, edited"
EDITED = "ridge, barycentre or training graph, edited"
METHODS = (NEIGHBOURS, CANDIDATES, BUILT, CHANGED, EDITED)
EXACT, EDITS, LOSS = "exactly right, %", "edits away, at most", "loss of the output kernel"
SPLITS, TRAIN, TEST = 3, 1000, 30
SMALL = (1, 100, 4)
LENGTHS = ((1, 3), (1, 5))
PARTS, STEPS, STARTS = 6, 8, 8
OUTPUT = WeisfeilerLehman(rounds=2, edge_label="label").normalized()


class SmilesToGraph(Experiment):
    """Graphs of QM9 molecules from their SMILES, by decoders that choose and decoders that construct."""

    name = "qm9-graphs"
    title = "QM9: the graph of a molecule from its SMILES"
    source = "Not from the papers: QM9, up to nine atoms of C, N, O, F; a task of the SISOKR and DSOKR papers on far fewer pairs."
    protocol = (
        f"{SPLITS} draws of {TRAIN} molecules to train on and {TEST} others to test on. Input: n-grams of the SMILES up to "
        "length 3 or 5, cosine or the Gaussian of it, chosen with alpha by leave-one-out. Output: Weisfeiler–Lehman, two "
        "rounds, elements and bond orders, cosine. Barycentre: fused Gromov–Wasserstein, by POT, of the "
        f"{PARTS} graphs of the largest weights. Edited: up to {STEPS} single changes of an element, a bond or an end of a bond "
        "that bring the graph nearer under the output kernel. No test graph is a training graph, so a method that chooses "
        "among those is never exactly right. Edits away: labels of atoms, and pairs of atoms whose bond differs, under the "
        f"best assignment of atoms found by swapping from {STARTS} starts; that bounds the edit distance from above."
    )
    digits = 3

    def pieces(self, small: bool) -> list[Piece]:
        """Return a piece for each draw."""
        draws, train, test = SMALL if small else (SPLITS, TRAIN, TEST)
        return [Piece(f"draw-{i}", {"seed": i, "train": train, "test": test}) for i in range(draws)]

    def seeds(self, small: bool) -> list[int]:
        """Return the seeds of the draws."""
        return [piece.settings["seed"] for piece in self.pieces(small)]

    def parameters(self, small: bool) -> dict[str, Any]:
        """Return the grids."""
        return {"lengths": LENGTHS, "parts": PARTS, "edits": STEPS}

    def run(self, piece: Piece) -> Outcome:
        """Run all methods on one draw."""
        data, seed = load_qm9(), piece.settings["seed"]
        order = np.random.default_rng(seed).permutation(len(data))
        train = data.take(order[: piece.settings["train"]])
        test = data.take(order[piece.settings["train"] :][: piece.settings["test"]])
        known, wanted = train.graphs(), test.graphs()
        kernels = [k for length in LENGTHS for k in (_cosine(length), GaussianOf(_cosine(length), scale=1.0))]
        models = [paper_estimator(kernel, OUTPUT, decoder=Candidates()) for kernel in kernels]
        chosen = best_by_leave_one_out(models, train.smiles, known)
        neighbours = NeighborsEstimator(chosen.input_kernel_, OUTPUT, k=1).fit(train.smiles, known)
        predicted = {NEIGHBOURS: neighbours.predict(test.smiles), CANDIDATES: chosen.predict(test.smiles)}
        common: dict[str, Any] = {"parts": PARTS, "edge_label": "label"}
        builders: dict[str, Decoder] = {
            BUILT: Barycenter(compare=False, **common),
            CHANGED: Barycenter(edits=STEPS, **(common | {"parts": 0})),
            EDITED: Barycenter(edits=STEPS, **common),
        }
        for method, decoder in builders.items():
            model = paper_estimator(chosen.input_kernel_, OUTPUT, alpha=chosen.alpha_, decoder=decoder)
            predicted[method] = model.fit(train.smiles, known).predict(test.smiles)
        outcome: Outcome = {"chosen": repr(chosen.input_kernel_), "alpha": chosen.alpha_, "scores": {}}
        for method, graphs in predicted.items():
            pairs = list(zip(wanted, graphs, strict=True))
            outcome["scores"][method] = {
                EXACT: 100.0 * float(np.mean([same_graph(*pair) for pair in pairs])),
                EDITS: float(np.mean([edits_between(*pair) for pair in pairs])),
                LOSS: float(np.mean([2.0 - 2.0 * OUTPUT([a], [b])[0, 0] for a, b in pairs])),
            }
        outcome["examples"] = [
            [test.smiles[i], *(written(predicted[method][i]) for method in METHODS)] for i in range(min(8, len(test)))
        ]
        return outcome

    def rows(self, outcomes: Sequence[Outcome]) -> list[dict[str, Any]]:
        """Return the mean over the draws."""
        return [
            mean_row([outcome["scores"][method][metric] for outcome in outcomes], method, metric)
            for metric in (EXACT, EDITS, LOSS)
            for method in METHODS
        ]

    def notes(self, rows: list[dict[str, Any]]) -> list[str]:
        """Compare construction with choice."""
        at = {(row["method"], row["metric"]): row["value"] for row in rows}
        scores = "; ".join(f"{method} {at[method, EDITS]:.2f}" for method in METHODS)
        return [
            f"Edits away: {scores}.",
            f"Exactly right are {at[BUILT, EXACT]:.1f} % of the barycentres, {at[CHANGED, EXACT]:.1f} % of the edited training "
            f"graphs and {at[EDITED, EXACT]:.1f} % where edits start from the better of the two.",
        ]

    def blocks(self, rows: list[dict[str, Any]], outcomes: Sequence[Outcome]) -> Iterable[str]:
        """Show some molecules."""
        yield section("Some test molecules; graphs that are not molecules are given by their atoms and bonds")
        lines = [example for outcome in outcomes for example in outcome["examples"][:3]]
        yield table_html(Table(["molecule", *METHODS], lines))


def _cosine(length: tuple[int, int]) -> Any:
    return Spectrum(length=length).normalized()


def same_graph(a: Any, b: Any) -> bool:
    """Tell whether two graphs are isomorphic."""

    def same(x: dict[str, Any], y: dict[str, Any]) -> bool:
        return x["label"] == y["label"]

    return bool(networkx().is_isomorphic(a, b, node_match=same, edge_match=same))


def edits_between(a: Any, b: Any) -> int:
    """Count labels of nodes and of pairs of nodes that differ, under the best assignment found by swapping."""
    size = max(len(a), len(b))
    (labels, edges), (others, other_edges) = _matrices(a, size), _matrices(b, size)
    unlike = (labels[:, None] != others[None, :]).astype(float)
    degrees = np.abs((edges > 0).sum(1)[:, None] - (other_edges > 0).sum(1)[None, :])
    random = np.random.default_rng(0)
    best = size * size
    for start in range(STARTS):
        noise = 0.0 if start == 0 else random.random((size, size))
        order = linear_sum_assignment(unlike + degrees + 2.0 * noise)[1]
        best = min(best, _swapped(labels, edges, others, other_edges, order))
    return best


def _swapped(
    labels: np.ndarray, edges: np.ndarray, others: np.ndarray, other_edges: np.ndarray, order: np.ndarray
) -> int:
    def cost(order: np.ndarray) -> int:
        moved = other_edges[np.ix_(order, order)]
        return int(np.sum(labels != others[order]) + np.sum(np.triu(edges != moved, 1)))

    found, improved = cost(order), True
    while improved:
        improved = False
        for i in range(len(order)):
            for j in range(i):
                swapped = order.copy()
                swapped[[i, j]] = swapped[[j, i]]
                if (now := cost(swapped)) < found:
                    order, found, improved = swapped, now, True
    return found


def _matrices(graph: Any, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Return labels and bond orders, padded with empty nodes."""
    labels = np.full(size, "", dtype=object)
    labels[: len(graph)] = [label for _, label in graph.nodes(data="label")]
    edges = np.zeros((size, size))
    edges[: len(graph), : len(graph)] = networkx().to_numpy_array(graph, weight="label")
    return labels, edges


def written(graph: Any) -> str:
    """Return the SMILES of a graph, or its atoms and bonds if it is not a molecule or rdkit is not installed."""
    try:
        from mercer.structures.molecules.graphs import graph_smiles

        return graph_smiles(graph)
    except (ImportError, ValueError):
        atoms = "".join(label for _, label in graph.nodes(data="label"))
        return f"{atoms}, {graph.number_of_edges()} bonds"
