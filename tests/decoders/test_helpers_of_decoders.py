"""Examples of helpers that users do not call.

>>> import numpy as np
>>> from mercer.decoders.pool import top
>>> top(np.array([[1.0, 3.0, 3.0, 2.0, 3.0]]), 2)
(array([[1, 2]]), array([[3., 3.]]))

>>> from mercer.decoders.pool import snapped
>>> row = snapped(np.array([[0.1 + 0.2, 0.3, 1.0]]))[0]
>>> bool(row[0] == row[1]), float(row[2])
(True, 1.0)

>>> from mercer.decoders.strings.eulerian import walk
>>> walk({(0, 1): 1, (1, 2): 1, (2, 0): 1})
[0, 1, 2, 0]
>>> walk({(0, 1): 1, (0, 2): 1})  # two walks, joined
[0, 2, 0, 1]

>>> from mercer.decoders.strings.eulerian import count_walks
>>> count_walks({(0, 1): 1, (1, 2): 1}), count_walks({(0, 1): 2}), count_walks({(0, 1): 1, (1, 0): 1})
(1, 0, 2)

>>> from mercer.decoders.strings.windows import Automaton
>>> machine = Automaton.of([[0, 1, 0]], longest=2, symbols=3)
>>> machine.stretches
[(), (0,), (1,), (0, 1), (1, 0)]
>>> machine.follow[3].tolist()  # after 0 1: 0 leads to 1 0, 1 to 1, and 2 to the empty stretch
[4, 2, 0]

>>> from mercer.decoders.linear_ordering import best_order
>>> g = np.array([[0.0, 2.0, -1.0], [-2.0, 0.0, 2.0], [1.0, -2.0, 0.0]])
>>> best_order(g, width=100, time_limit=1.0)
Ordered(order=array([0, 1, 2]), value=3.0, gap=0.0)

>>> from mercer.kernels import Spectrum
>>> from mercer.decoders.strings.kernels import window_terms
>>> window_terms(0.5 * Spectrum((1, 2)))
[Term(length=1, similarity=(0.5, 0.0), changes=0), Term(length=2, similarity=(0.5, 0.0, 0.0), changes=0)]
"""
