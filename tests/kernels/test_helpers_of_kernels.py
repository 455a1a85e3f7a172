"""Examples of helpers that users do not call.

>>> from mercer.kernels.strings._lanes import on_lines
>>> on_lines((3, 2)).shape, on_lines((5,)).ctypes.data % 64
((3, 2), 0)

>>> from scipy import sparse
>>> from mercer.kernels._sparse import products
>>> from mercer.kernels._sparse import SparseRows
>>> products(SparseRows(sparse.csr_array([[1.0, 2.0], [0.0, 3.0]])))
array([[5., 6.],
       [6., 9.]])

>>> from mercer.kernels._sparse import translation
>>> translation({"a": 0, "b": 1}, {"b": 0})
array([-1,  0])

>>> from mercer.kernels.strings.base import length_range
>>> list(length_range(3)), list(length_range((1, 3)))
([3], [1, 2, 3])

>>> from mercer.kernels.strings.base import occurring
>>> occurring(range(1, 10**9), 4), occurring(range(7, 10**9), 4)
(range(1, 5), range(7, 8))

>>> from mercer.kernels.strings.ngrams import ngrams
>>> list(ngrams("abc", 2)), list(ngrams(["a", "b"], (1, 2)))
(['ab', 'bc'], [('a',), ('b',), ('a', 'b')])

>>> from mercer.kernels.images import moves
>>> len(moves(1)), len(moves(1, rotations=(-10, 10))), moves(0, mirror=True)[1].mirror
(9, 27, True)

>>> from mercer.kernels.images import number_of_moves
>>> number_of_moves(1, rotations=(-10, 10)), number_of_moves(10**9)
(27, 4000000004000000001)

>>> from mercer.kernels.patches import PatchGrid
>>> PatchGrid((4, 5), size=2, overlap=1).corners[:5]
[(0, 0), (0, 1), (0, 2), (0, 3), (1, 0)]
"""
