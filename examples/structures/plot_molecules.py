"""
Molecules from spectra
======================

A mass spectrometer breaks molecules and weighs the pieces. Which molecule was it? Spectra are compared by the
peaks they share, molecules by the share of substructures they have in common (Tanimoto), and the molecule
whose fingerprint is nearest to the predicted one is chosen among candidates. Spectra are simulated here, by
cutting bonds; the real task, on thousands of measured spectra, is on the page of results.
"""

# %%
# A spectrum: the masses of all pieces that one cut bond leaves, the larger the higher.

import matplotlib.pyplot as plt
import numpy as np
from rdkit import Chem
from rdkit.Chem.Descriptors import ExactMolWt

from mercer import DependencyEstimator
from mercer.kernels import Peaks, Tanimoto
from mercer.plots import PredictionGridDisplay

groups = ["C", "CC", "C(C)C", "CO", "CN", "C(=O)O", "C(=O)N", "OC", "Cl", "F", "C#N", "CCO"]
rings = ["c1cc({})ccc1{}", "c1nc({})cnc1{}", "C1CC({})CCC1{}", "C1OC({})COC1{}", "c1cc({})sc1{}"]
smiles = sorted({Chem.CanonSmiles(ring.format(a, b)) for ring in rings for a in groups for b in groups})


def spectrum(text):
    molecule = Chem.MolFromSmiles(text)
    peaks = {round(ExactMolWt(molecule), 3): 1.0}
    for bond in molecule.GetBonds():
        if not bond.IsInRing():
            pieces = Chem.GetMolFrags(Chem.FragmentOnBonds(molecule, [bond.GetIdx()], addDummies=False), asMols=True)
            for piece in pieces:
                peaks[round(ExactMolWt(piece), 3)] = piece.GetNumHeavyAtoms() / molecule.GetNumHeavyAtoms()
    return sorted(peaks.items())


order = np.random.default_rng(0).permutation(len(smiles))
train, test = order[:250], order[250:350]
spectra = [spectrum(text) for text in smiles]
model = DependencyEstimator(Peaks(width=0.01).normalized(), Tanimoto())
model.fit([spectra[i] for i in train], [smiles[i] for i in train])

# %%
# Every molecule is a candidate, those that were not trained on too. The tested ones were not.

ranked = model.rank([spectra[i] for i in test], k=5, candidates=smiles)
first = np.mean([found.objects[0] == smiles[i] for found, i in zip(ranked, test, strict=True)])
five = np.mean([smiles[i] in list(found.objects) for found, i in zip(ranked, test, strict=True)])
print(f"right: {first:.0%}; among the first five of {len(smiles)}: {five:.0%}; by chance: {5 / len(smiles):.1%}")

# %%
shown = [0, 1, 2, 3]
PredictionGridDisplay.from_predictions(
    [smiles[test[i]] for i in shown], [ranked[i].objects[0] for i in shown], kind="molecules"
)
plt.show()
