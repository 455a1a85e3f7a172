"""Tree kernels against counting every part, and trees in and out of their forms."""

from collections import Counter
from itertools import product

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mercer
from mercer.core import memory
from mercer.kernels import Gaussian, SubsetTree, Subtree
from mercer.structures.trees import as_tree, bracketed, flattened, leaves, nodes, parse_tree, production

labels, tokens = st.sampled_from("AB"), st.sampled_from("xy")
trees = st.recursive(
    st.tuples(labels, tokens) | st.tuples(labels),
    lambda below: st.lists(below | tokens, min_size=1, max_size=3).flatmap(lambda c: labels.map(lambda a: (a, *c))),
    max_leaves=6,
)
forests = st.lists(trees, min_size=1, max_size=4)


def parts(node):
    """Every subset tree with this node as its root, as (tree with cut children, number of productions)."""
    options = []
    for child in node[1:]:
        inner = isinstance(child, tuple)
        options.append([((child[0], "cut"), 0), *parts(child)] if inner else [(("leaf", child), 0)])
    return [
        ((node[0], tuple(shape for shape, _ in chosen)), 1 + sum(size for _, size in chosen))
        for chosen in product(*options)
    ]


def enumerated(tree, decay):
    """φ(T) of Collins and Duffy: one feature for each part, √λ to the power of its productions."""
    features = Counter()
    for node in nodes(tree):
        for shape, size in parts(node):
            features[repr(shape)] += decay ** (size / 2)
    return features


@given(forests, forests, st.sampled_from([0.2, 0.5, 1.0]))
@settings(max_examples=40, deadline=None)
def test_subset_trees_against_enumeration(X, Z, decay):
    left, right = ([enumerated(tree, decay) for tree in side] for side in (X, Z))
    wanted = np.array([[sum(a[part] * b[part] for part in a) for b in right] for a in left])
    kernel = SubsetTree(decay)
    np.testing.assert_allclose(kernel(X, Z), wanted, rtol=1e-10)
    np.testing.assert_allclose(kernel.pointwise(X[0], Z[0]), wanted[0, 0], rtol=1e-10)
    np.testing.assert_allclose(kernel(Z, X), wanted.T, rtol=1e-10)
    np.testing.assert_allclose(kernel.diag(X), np.diag(kernel(X)), rtol=1e-12)


@given(forests, forests, st.sampled_from([0.2, 1.0]))
@settings(max_examples=25, deadline=None)
def test_subtrees_against_the_recursion(X, Z, decay):
    def common(n, m):
        if production(n) != production(m):
            return 0.0
        return decay * np.prod([common(a, b) for a, b in zip(n[1:], m[1:], strict=True) if isinstance(a, tuple)])

    wanted = [[sum(common(n, m) for n in nodes(x) for m in nodes(z)) for z in Z] for x in X]
    kernel = Subtree(decay)
    np.testing.assert_allclose(kernel(X, Z), wanted, rtol=1e-10)
    features = kernel.feature_map(X)
    np.testing.assert_allclose(features(X) @ features(Z).T, wanted, rtol=1e-10)
    np.testing.assert_allclose(kernel.pointwise(X[0], Z[0]), wanted[0][0], rtol=1e-10)


@given(trees, trees)
@settings(max_examples=50, deadline=None)
def test_flat_trees_are_equal_where_trees_are(one, other):
    assert (flattened(one) == flattened(other)) == (one == other)
    assert flattened(bracketed(one)) == flattened(one)


@given(trees)
@settings(max_examples=50, deadline=None)
def test_brackets_there_and_back(tree):
    assert parse_tree(bracketed(tree)) == tree
    assert as_tree([tree[0], *tree[1:]]) == tree


def test_forms_of_one_tree_are_one_object():
    class Foreign(list):  # as nltk's are
        def __init__(self, label, children):
            super().__init__(children)
            self._label = label

        def label(self):
            return self._label

    forms = [
        "(S (NP I) (VP run))",
        "\n( S(NP I)\n   (VP run) )",
        ("S", ("NP", "I"), ("VP", "run")),
        ["S", ["NP", "I"], ("VP", "run")],
        Foreign("S", [Foreign("NP", ["I"]), Foreign("VP", ["run"])]),
    ]
    for kernel in (Subtree(), SubsetTree()):
        assert len({kernel.key(form) for form in forms}) == 1
        np.testing.assert_array_equal(kernel(forms), np.full((5, 5), kernel.pointwise(forms[0], forms[0])))
    assert leaves(forms[0]) == ["I", "run"]
    assert parse_tree("( (S (X) (NP I)))") == ("", ("S", ("X",), ("NP", "I")))
    assert bracketed(("", ("S", "x"))) == "( (S x))"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("(S (NP I)", r"unbalanced brackets in '\(S \(NP I\)': the one opened at position 0 is never closed"),
        ("(S (NP I", "opened at position 3 is never closed"),
        ("(S x))", "unbalanced brackets in .* nothing is open where position 5 closes"),
        (") (S x)", "nothing is open where position 0 closes"),
        ("(S x) (S y)", r"'\(' at position 6 of .*; expected one tree, which has ended before"),
        ("run", "'run' at position 0 of 'run'; expected a tree, which begins with"),
        ("  ", "holds no tree; expected one such as"),
    ],
)
def test_brackets_that_do_not_balance(text, message):
    with pytest.raises(ValueError, match=message):
        parse_tree(text)
    with pytest.raises(ValueError, match=r"X\[1\] is not a tree: .*"):
        SubsetTree()(["(S x)", text])


@pytest.mark.parametrize(
    ("tree", "error", "message"),
    [
        (3, TypeError, r"X\[1\] is 3, a int; expected a tree"),
        ((), ValueError, r"X\[1\] holds an empty tuple; expected a node"),
        (("S", ()), ValueError, r"X\[1\] holds an empty tuple"),
        ((("NP", "I"), "x"), ValueError, "begins with a tuple; expected the label of a node first"),
        (("S", {"a"}), TypeError, "the leaf {'a'}, a set, which has no hash"),
    ],
)
@pytest.mark.parametrize("kernel", [Subtree(), SubsetTree()], ids=repr)
def test_what_is_no_tree(kernel, tree, error, message):
    with pytest.raises(error, match=message):
        kernel([("S", "x"), tree])


@pytest.mark.parametrize("word", ["two words", "a(b", ""])
def test_words_that_brackets_cannot_hold(word):
    with pytest.raises(ValueError, match="cannot be written between brackets"):
        bracketed(("S", word))


@pytest.mark.parametrize("kernel", [Subtree(0), SubsetTree(1.5), SubsetTree(True), Subtree(np.nan)], ids=repr)
def test_decays_out_of_range(kernel):
    with pytest.raises(ValueError, match="decay=.*; expected a number above 0, at most 1"):
        kernel(["(S x)"])


def test_trees_too_large_for_a_double_are_told():
    bush = ("S", *[("A", "x")] * 1100)
    with pytest.raises(ValueError, match="too large for a double; expected smaller trees or a smaller decay"):
        SubsetTree(1.0)([bush])


def test_deep_trees_do_not_run_out_of_stack():
    deep = "(A " * 3000 + "x" + ")" * 3000
    assert bracketed(deep) == deep
    assert SubsetTree(0.5)([deep])[0, 0] > 0


def chain(depth, word="x"):
    tree = ("A", word)
    for _ in range(depth - 1):
        tree = ("A", tree)
    return tree


def test_very_deep_trees_have_the_values_of_their_definition():
    deep, same, other = chain(20_000), bracketed(chain(20_000)), chain(20_000, "y")
    kernel = Subtree(0.5)
    # a chain has one subtree of each size
    np.testing.assert_allclose(kernel([deep, same, other]), [[1, 1, 0], [1, 1, 0], [0, 0, 1]])
    np.testing.assert_allclose(kernel([deep], ["(A (A x))"]), [[0.75]])
    assert kernel.pointwise(deep, same) == pytest.approx(1.0)
    assert kernel.key(deep) == kernel.key(same) != kernel.key(other)
    for tree in ("(A (A x))", "(A x)"):
        # every inner node of one with every inner node of the other, and both last nodes
        short = tree.count("A")
        wanted = 0.5 + (1 + 0.5) * 0.5 + (20_000 - 2) * 0.5 if short == 2 else 0.5
        np.testing.assert_allclose(SubsetTree(0.5)([deep], [tree]), [[wanted]])
        np.testing.assert_allclose(SubsetTree(0.5).pointwise(deep, tree), wanted)


def test_a_table_that_does_not_fit_is_told_before_it_is_made(monkeypatch):
    monkeypatch.setattr(memory, "available_bytes", lambda *_: 2**22)
    with pytest.raises(MemoryError, match="two trees with 1000 and 1000 of them.*use smaller trees, or Subtree"):
        SubsetTree()([chain(1000)])
    with pytest.raises(MemoryError, match="two trees with 1000 and 1000"):
        SubsetTree().diag([chain(1000)])


def test_models_of_very_deep_trees():
    X, Y = np.array([[0.0], [1.0], [0.1], [0.9]]), [chain(5000), chain(5000, "y")] * 2
    model = mercer.DependencyEstimator(Gaussian(0.3), Subtree(), alpha=0.1).fit(X, Y)
    assert [leaves(tree) for tree in model.predict([[0.05], [0.95]])] == [["x"], ["y"]]


def test_threads_change_nothing():
    rng = np.random.default_rng(0)

    def grown(depth):
        if depth == 0 or rng.random() < 0.3:
            return ("W", str(rng.integers(3)))
        return (str(rng.integers(2)), *(grown(depth - 1) for _ in range(rng.integers(1, 4))))

    X, before = [grown(4) for _ in range(120)], numba.get_num_threads()
    try:
        numba.set_num_threads(1)
        alone = SubsetTree()(X)
        numba.set_num_threads(min(2, numba.config.NUMBA_NUM_THREADS))
        np.testing.assert_array_equal(alone, SubsetTree()(X))
    finally:
        numba.set_num_threads(before)


def test_trees_as_outputs_with_candidates_of_their_own():
    X = np.array([[0.0], [1.0], [0.1], [0.9]])
    Y = ["(S (NP I) (VP run))", "(S (NP I) (VP (V see) (NP you)))"] * 2
    model = mercer.DependencyEstimator(Gaussian(0.3), SubsetTree().normalized(), alpha=0.1).fit(X, Y)
    assert model.predict([[0.05], [0.95]]).tolist() == Y[:2]
    near = [[("S", ("NP", "we"), ("VP", "run")), ("S", ("NP", "we"), ("VP", ("V", "see"), ("NP", "it")))]] * 2
    assert model.predict([[0.05], [0.95]], candidates=near).tolist() == near[0]
    ranked = model.rank([[0.05], [0.95]], k=2, candidates=near)
    assert [each.objects[0] for each in ranked] == near[0]
    assert [each.objects[1] for each in ranked] == near[0][::-1]
