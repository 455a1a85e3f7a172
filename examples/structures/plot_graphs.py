"""
Graphs
======

A description of a small network, in numbers: how many stations, how many lines, how many of them end nowhere,
whether it is closed. The answer is a graph. Graphs are compared by the neighbourhoods of their nodes
(Weisfeiler and Lehman), and the nearest one of a catalogue that holds many graphs never seen in training is
the answer.
"""

# %%
import matplotlib.pyplot as plt
import networkx as nx
import numpy as np

from mercer import DependencyEstimator
from mercer.kernels import Encoded, Gaussian, WeisfeilerLehman, ZScores
from mercer.plots import PredictionGridDisplay


def catalogue(size):
    """Graphs of this many nodes: chains, rings, stars, wheels, ladders, brooms and lollipops."""
    yield "chain", nx.path_graph(size)
    yield "ring", nx.cycle_graph(size)
    yield "star", nx.star_graph(size - 1)
    yield "wheel", nx.wheel_graph(size)
    yield "lollipop", nx.lollipop_graph(size // 2, size - size // 2)
    broom = nx.path_graph(size // 2)
    broom.add_edges_from((0, node) for node in range(size // 2, size))
    yield "broom", broom
    if size % 2 == 0:
        yield "ladder", nx.ladder_graph(size // 2)


def described(graph):
    degrees = np.array([degree for _, degree in graph.degree])
    return [len(graph), graph.number_of_edges(), (degrees == 1).sum(), degrees.max(), nx.average_clustering(graph)]


graphs = [graph for size in range(6, 14) for _, graph in catalogue(size)]
X = np.array([described(graph) for graph in graphs])
order = np.random.default_rng(0).permutation(len(graphs))
train, test = order[:35], order[35:]

model = DependencyEstimator(Encoded(ZScores(), Gaussian("median")), WeisfeilerLehman(rounds=1, node_label=None)).fit(
    X[train], [graphs[i] for i in train]
)
answers = model.predict(X[test], candidates=graphs)
same = [nx.is_isomorphic(answer, graphs[i]) for answer, i in zip(answers, test, strict=True)]
print(f"{sum(same)} of {len(test)} graphs that were not trained on are found in a catalogue of {len(graphs)}")

# %%
# Descriptions have the number of nodes and edges, dead ends, the largest degree, and the clustering.

PredictionGridDisplay.from_predictions([graphs[i] for i in test[:5]], answers[:5])
plt.show()
