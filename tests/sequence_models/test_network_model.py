"""Models of networks: reading from either end, with networks that both directions share."""

from itertools import pairwise

import numpy as np
import pytest

from mercer.sequence_models.inventory import Inventory
from mercer.sequence_models.network_model import NetworkModel, WordNetworks
from mercer.sequence_models.steps import NEVER


@pytest.mark.parametrize("backwards", [False, True])
def test_words_are_read_from_either_end(backwards):
    words = [list(word) for word in ("ab", "ba", "bb", "aab", "bba", "bab", "aba")] * 4
    # b is loud before a, a is quiet at the end
    rules = {("b", "a"): ("B",), ("a", "#"): ()}
    cuts = [[rules.get(pair, pair[:1]) for pair in pairwise([*word, "#"])] for word in words]
    inventory = Inventory().fit(words, cuts)
    codes = [inventory.inputs_.codes(word) for word in words], [inventory.chunks_.codes(cut) for cut in cuts]
    networks = WordNetworks(members=2, epochs=80)
    model = NetworkModel(networks, backwards).fit(inventory, *codes, np.ones(len(words), dtype=bool))
    rows = model.beam(model.read("abba"), 5)
    assert inventory.spell(rows[0]) == ("a", "b", "B")
    scores = model.score(model.read("abba"), rows)
    assert np.all(np.diff(scores) <= 1e-9)
    assert np.exp(scores).sum() <= 1.001  # what is less likely than NEVER counts as that
    unseen = model.score(model.read("ab"), inventory.chunks_.codes([("a",), ("a",)])[None, :])
    assert unseen[0] <= NEVER


def test_both_directions_share_networks():
    words = [list(word) for word in ("ab", "ba", "bb", "aab")] * 3
    cuts = [[(letter.upper() if i else letter,) for i, letter in enumerate(word)] for word in words]
    inventory = Inventory().fit(words, cuts)
    codes = [inventory.inputs_.codes(word) for word in words], [inventory.chunks_.codes(cut) for cut in cuts]
    networks, chosen = WordNetworks(members=1, epochs=2), np.arange(len(words)) < 8
    ahead, behind = (NetworkModel(networks, side).fit(inventory, *codes, chosen) for side in (False, True))
    row = inventory.chunks_.codes([("a",), ("B",)])[None, :]
    before = [model.score(model.read("ab"), row)[0] for model in (ahead, behind)]
    ahead.solve(np.ones(len(words), dtype=bool))
    after = [model.score(model.read("ab"), row)[0] for model in (ahead, behind)]
    assert before[0] != after[0]
    assert before[1] != after[1]
