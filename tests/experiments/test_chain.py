"""Sequences of parts: the max-margin chain and the constrained ridge against brute force."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from experiments.baselines import ConstrainedRidge, MaxMarginChain
from experiments.baselines.chain_passes import best_labelling
from experiments.baselines.segments import Segments
from experiments.protocol import paper_estimator
from mercer.kernels import Gaussian, Linear, PartByPart, Polynomial, Positions


def toy(n=12, labels="abc", seed=0, lengths=(1, 2, 3, 4)):
    """Words of noisy letters, where some letters follow others more often."""
    rng = np.random.default_rng(seed)
    prototypes = rng.standard_normal((len(labels), 4))
    X, y = [], []
    for _ in range(n):
        numbers = rng.integers(len(labels), size=rng.choice(lengths))
        X.append(prototypes[numbers] + 0.4 * rng.standard_normal((len(numbers), 4)))
        y.append("".join(labels[i] for i in numbers))
    return X, y


def labelling_score(nodes, transitions, labels):
    return sum(nodes[t, a] for t, a in enumerate(labels)) + sum(
        transitions[a, b] for a, b in itertools.pairwise(labels)
    )


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 5), st.integers(1, 3), st.integers(0, 10**6))
def test_viterbi_is_the_best_of_all_labellings(length, labels, seed):
    rng = np.random.default_rng(seed)
    nodes, transitions = rng.standard_normal((length, labels)), rng.standard_normal((labels, labels))
    best = max(labelling_score(nodes, transitions, y) for y in itertools.product(range(labels), repeat=length))
    assert labelling_score(nodes, transitions, best_labelling(nodes, transitions)) == pytest.approx(best)


def objective(model, X, y, C):
    """The primal, with every labelling enumerated."""
    segments, numbers = Segments.of(X, "X"), {s: i for i, s in enumerate(model.symbols_)}
    gram = model.kernel_(segments.rows)
    value = 0.5 * np.sum(model.coefficients_ * (gram @ model.coefficients_)) + 0.5 * np.sum(model.transitions_**2)
    for part, word in zip(segments.slices(), y, strict=True):
        nodes, truth = gram[part] @ model.coefficients_, [numbers[s] for s in word]
        own = labelling_score(nodes, model.transitions_, truth)
        value += C * max(
            sum(a != b for a, b in zip(other, truth, strict=True))
            + labelling_score(nodes, model.transitions_, other)
            - own
            for other in itertools.product(range(len(numbers)), repeat=len(truth))
        )
    return value


@pytest.mark.parametrize("C", [0.1, 2.0])
def test_objective_and_gap_are_those_of_the_enumerated_problem(C):
    X, y = toy()
    tight = MaxMarginChain(Gaussian(2.0), C=C, tol=5e-3, max_passes=3000).fit(X, y)
    assert objective(tight, X, y, C) == pytest.approx(tight.objective_, rel=1e-9)
    assert tight.gap_ <= 5e-3 * tight.objective_
    loose = MaxMarginChain(Gaussian(2.0), C=C, tol=0.1, max_passes=3000).fit(X, y)
    lowest = tight.objective_ - tight.gap_
    assert loose.objective_ - loose.gap_ <= tight.objective_ * (1 + 1e-9)
    assert lowest <= loose.objective_ * (1 + 1e-9)


def test_no_change_of_the_solution_lowers_the_objective():
    X, y = toy(n=8)
    model = MaxMarginChain(Linear(), C=1.0, tol=5e-3, max_passes=3000).fit(X, y)
    rng = np.random.default_rng(3)
    for _ in range(10):
        other = clone(model)
        other.symbols_, other.kernel_ = model.symbols_, model.kernel_
        other.coefficients_ = model.coefficients_ + 0.05 * rng.standard_normal(model.coefficients_.shape)
        other.transitions_ = model.transitions_ + 0.05 * rng.standard_normal(model.transitions_.shape)
        assert objective(other, X, y, 1.0) >= model.objective_ - model.gap_


def test_chain_uses_what_follows_what():
    """The second part says nothing; its label is always that after the first one's."""
    rng = np.random.default_rng(0)
    firsts = rng.integers(2, size=30)
    X = [[[2.0 * a - 1.0, 0.0], [0.0, 1.0]] for a in firsts]
    y = ["ax" if a else "by" for a in firsts]
    assert MaxMarginChain(Linear(), C=5.0).fit(X, y).score(X, y) == 1.0


def test_chain_says_when_it_stopped_early_and_is_repeatable():
    X, y = toy(n=20)
    with pytest.warns(ConvergenceWarning, match="after 1 passes the duality gap is .* of the objective, and tol=1e-08"):
        first = MaxMarginChain(Gaussian(1.0), C=10.0, tol=1e-8, max_passes=1).fit(X, y)
    with pytest.warns(ConvergenceWarning):
        second = clone(first).fit(X, y)
    np.testing.assert_array_equal(first.coefficients_, second.coefficients_)


def test_labels_need_not_be_letters():
    X, _ = toy(n=4, lengths=(2,))
    y = [("noun", 1), (1, 1), ("noun", "noun"), (1, "noun")]
    assert set(itertools.chain(*MaxMarginChain(Linear()).fit(X, y).predict(X))) <= {"noun", 1}


@pytest.mark.parametrize("model", [MaxMarginChain(), ConstrainedRidge()])
def test_errors_name_what_is_wrong(model):
    X, y = toy(n=3, lengths=(2,))
    with pytest.raises(ValueError, match=r"y\[1\] has 1 symbols and X\[1\] has 2 parts"):
        model.fit(X, [y[0], "a", y[2]])
    with pytest.raises(ValueError, match="X has 3 sequences and y has 2"):
        model.fit(X, y[:2])
    with pytest.raises(ValueError, match=r"X\[2\] is \[\]; expected a sequence of at least one part"):
        model.fit([*X[:2], []], y)
    with pytest.raises(ValueError, match=r"X has parts of \[3, 4\] features"):
        model.fit([*X[:2], X[2][:, :3]], y)


def test_parameters_are_checked():
    X, y = toy(n=3)
    with pytest.raises(ValueError, match="C=0; expected a positive number"):
        MaxMarginChain(C=0).fit(X, y)
    with pytest.raises(ValueError, match="alpha=-1; expected a positive number"):
        ConstrainedRidge(alpha=-1).fit(X, y)
    with pytest.raises(ValueError, match="constraint=-1; expected zero or a positive number"):
        ConstrainedRidge(constraint=-1).fit(X, y)


def test_longer_sequences_than_in_training_are_refused():
    X, y = toy(n=6, lengths=(2,))
    model = ConstrainedRidge(Linear()).fit(X, y)
    with pytest.raises(ValueError, match=r"X\[0\] has 3 parts, and the longest training sequence 2"):
        model.predict([np.zeros((3, 4))])


def augmented_ridge(X, y, Z, kernel, alpha, constraint, symbols, empirical):
    """The same regression written out: each part is an example of its own, of weight η."""
    longest = max(map(len, X))
    by_position = [[x[p] for x in X if len(x) > p] for p in range(longest)]

    def features_gram(left, right):
        gram = np.zeros((len(left), len(right)))
        for (i, a), (j, b) in itertools.product(enumerate(left), enumerate(right)):
            for p in range(longest):
                if p in a and p in b:
                    if empirical:
                        gram[i, j] += float((kernel([a[p]], by_position[p]) @ kernel(by_position[p], [b[p]]))[0, 0])
                    else:
                        gram[i, j] += float(kernel([a[p]], [b[p]])[0, 0])
        return gram

    def one_hot(word):
        row = np.zeros((longest, len(symbols)))
        for p, symbol in word.items():
            row[p, symbols.index(symbol)] = 1.0
        return row.ravel()

    whole = [dict(enumerate(x)) for x in X]
    alone = [{p: part} for x in X for p, part in enumerate(x)]
    targets = [one_hot(dict(enumerate(word))) for word in y] + [
        one_hot({p: s}) for word in y for p, s in enumerate(word)
    ]
    examples = whole + alone
    scale = len(X) / np.trace(features_gram(whole, whole)) if empirical else 1.0
    ridge = np.diag(np.r_[np.full(len(whole), alpha), np.full(len(alone), alpha / constraint)])
    dual = np.linalg.solve(scale * features_gram(examples, examples) + ridge, np.asarray(targets))
    return scale * features_gram([dict(enumerate(z)) for z in Z], examples) @ dual


@pytest.mark.parametrize("empirical", [False, True])
@pytest.mark.parametrize("constraint", [0.2, 3.0])
def test_constrained_ridge_is_ridge_with_the_parts_as_examples(constraint, empirical):
    X, y = toy(n=9)
    Z, _ = toy(n=5, seed=1)
    kernel = Polynomial(degree=2, gamma=0.3)
    model = ConstrainedRidge(kernel, alpha=0.3, constraint=constraint, empirical=empirical).fit(X, y)
    expected = augmented_ridge(X, y, Z, kernel, 0.3, constraint, model.symbols_, empirical)
    np.testing.assert_allclose(model.decision_function(Z), expected, atol=1e-9)


def test_without_constraint_it_is_the_dependency_estimator():
    from mercer.decoders import PerPosition

    X, y = toy(n=15, lengths=(3,))
    Z, _ = toy(n=6, seed=1, lengths=(3,))
    plain = paper_estimator(PartByPart(Gaussian(1.5)), Positions(), alpha=0.2, decoder=PerPosition(3)).fit(X, y)
    model = ConstrainedRidge(Gaussian(1.5), alpha=0.2, constraint=0.0).fit(X, y)
    assert model.predict(Z).tolist() == plain.predict(Z).tolist()


def test_a_strong_constraint_looks_at_each_part_alone():
    X, y = toy(n=15, lengths=(3,))
    model = ConstrainedRidge(Gaussian(1.5), alpha=1e-3, constraint=1e6).fit(X, y)
    changed = [np.vstack([x[:1], 9.0 * np.ones((2, 4))]) for x in X]
    width = len(model.symbols_)
    np.testing.assert_allclose(
        model.decision_function(X)[:, :width], model.decision_function(changed)[:, :width], atol=1e-5
    )
