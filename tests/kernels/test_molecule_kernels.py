"""Kernels on molecules and spectra: the contract, naive twins, and what they refuse."""

import numpy as np
import pytest

import mercer
from mercer import DependencyEstimator
from mercer.kernels import GaussianOf, NeutralLosses, Peaks, Tanimoto
from mercer.structures.molecules import MassSpectrum, fingerprints
from mercer.testing import check_kernel

pytest.importorskip("rdkit", reason="rdkit is not installed")

SMILES = ["CCO", "CCN", "c1ccccc1", "CC(=O)Oc1ccccc1C(=O)O", "C", "OCC", "CCCCO"]
PACKED = np.vstack([fingerprints(SMILES, bits=256), np.zeros((2, 32), dtype=np.uint8)])
rng = np.random.default_rng(0)
SPECTRA = [MassSpectrum(np.round(rng.uniform(50, 60, 8), 2), rng.random(8), precursor=61.0 + i) for i in range(5)] + [
    MassSpectrum([], [], 80.0),
    MassSpectrum([55.0, 55.001, 99.0], [1.0, 0.0, 2.0], 70.0),
]

KERNELS = [
    (Tanimoto(), SMILES),
    (Tanimoto("maccs"), SMILES),
    (Tanimoto(weights="idf"), SMILES),
    (Tanimoto(), PACKED),
    (Tanimoto(weights="idf"), PACKED),
    (GaussianOf(Tanimoto(), scale=0.7), PACKED),
    (Tanimoto(weights="idf") + Tanimoto("paths", radius=4), SMILES),
    (Peaks(), SPECTRA),
    (Peaks(width=0.5, power=1.0, weights="idf"), SPECTRA),
    (NeutralLosses(), SPECTRA),
    (GaussianOf(0.5 * (Peaks(weights="idf").normalized() + NeutralLosses().normalized())), SPECTRA),
]


@pytest.mark.parametrize(("kernel", "X"), KERNELS, ids=lambda value: repr(value)[:40])
def test_the_contract(kernel, X):
    skipped = check_kernel(kernel, X)
    assert {reason.split(":")[0] for reason in skipped} <= ({"repr"} if "idf" in repr(kernel) else set())
    gram = kernel.resolve(X)(X)
    np.testing.assert_array_equal(gram, gram.T)


def test_the_gaussian_of_tanimoto():
    share = Tanimoto()(SMILES)
    np.testing.assert_allclose(GaussianOf(Tanimoto(), scale=0.5)(SMILES), np.exp(-(1 - share) / 0.25), rtol=1e-12)


def test_rare_bits_weigh_more():
    bits = np.array([[1, 1, 0, 0], [1, 0, 1, 0], [1, 0, 0, 1]], dtype=np.uint8)
    weights = Tanimoto(weights="idf").resolve(np.packbits(bits, axis=1)).weights
    np.testing.assert_allclose(weights[:4], np.log(4 / np.array([4.0, 2.0, 2.0, 2.0])))
    np.testing.assert_allclose(weights[4:], np.log(4.0))


def test_packed_and_text_are_the_same_molecules():
    np.testing.assert_array_equal(Tanimoto()(SMILES), Tanimoto()(fingerprints(SMILES)))


def test_soft_bins_are_the_plain_definition():
    def row(spectrum, width, power):
        found = np.zeros(20000)
        for mz, height in zip(spectrum.mz, spectrum.intensity, strict=True):
            place = round(mz / width, 6)
            low = int(np.floor(place))
            found[low] += height**power * (1 - place + low)
            found[low + 1] += height**power * (place - low)
        return found

    rows = np.array([row(spectrum, 0.03, 0.5) for spectrum in SPECTRA])
    np.testing.assert_allclose(Peaks(width=0.03, power=0.5)(SPECTRA), rows @ rows.T, rtol=1e-12, atol=1e-14)


def test_losses_are_peaks_seen_from_the_precursor():
    turned = [
        MassSpectrum(s.losses[s.losses > 0], s.intensity[s.losses > 0]) if len(s) else MassSpectrum([], [])
        for s in SPECTRA
    ]
    np.testing.assert_allclose(NeutralLosses()(SPECTRA), Peaks()(turned), rtol=1e-9, atol=1e-12)


def test_a_bin_no_training_spectrum_has_weighs_most():
    kernel = Peaks(width=1.0, weights="idf").resolve([[(50.0, 1.0)], [(50.0, 1.0), (60.0, 1.0)]])
    assert kernel.weights[50] == np.log(3 / 3)
    assert kernel.weights[60] == np.log(3 / 2)
    assert kernel([[(55.0, 1.0)]])[0, 0] == kernel([[(900.0, 1.0)]])[0, 0] == np.log(3.0) ** 2


@pytest.mark.parametrize(
    ("kernel", "X", "error", "message"),
    [
        (Tanimoto(), ["CCO", "C(C"], ValueError, r"X\[1\] is 'C\(C', which rdkit cannot read"),
        (Tanimoto(), ["CCO", 3], TypeError, r"X\[1\] is 3, a int"),
        (Tanimoto(), np.eye(3), TypeError, "dtype float64; expected packed fingerprints"),
        (Tanimoto("dayligth"), ["CCO"], ValueError, "expected one of 'morgan'"),
        (Tanimoto(weights="tf"), ["CCO"], ValueError, "expected None, 'idf' or a number"),
        (Tanimoto(weights=np.ones(7)), ["CCO"], ValueError, "7 entries and the fingerprints have 2048"),
        (Tanimoto(weights=-np.ones(2048)), ["CCO"], ValueError, "below zero"),
        (Peaks(), [[(50.0, 1.0)], [(50.0, 1.0), (51.0, -2.0)]], ValueError, r"X\[1\] has intensity -2.0 at peak 1"),
        (Peaks(), [[(50.0, np.nan)]], ValueError, r"X\[0\] has intensity nan at peak 0"),
        (Peaks(), [[(-50.0, 1.0)]], ValueError, r"X\[0\] has m/z -50.0 at peak 0"),
        (Peaks(), [[1.0, 2.0, 3.0]], TypeError, r"X\[0\] is \[1.0, 2.0, 3.0\], a list; expected a spectrum"),
        (Peaks(width=0.0), SPECTRA, ValueError, "width=0.0 in Peaks"),
        (Peaks(power=-1.0), SPECTRA, ValueError, "power=-1.0 in Peaks"),
        (Peaks(weights="tf"), SPECTRA, ValueError, "expected None, 'idf'"),
        (NeutralLosses(), [[(50.0, 1.0)]], ValueError, r"X\[0\] has no precursor"),
    ],
)
def test_what_is_refused(kernel, X, error, message):
    with pytest.raises(error, match=message):
        kernel(X)


def test_a_spectrum_checks_itself():
    with pytest.raises(ValueError, match="intensity -1.0 at peak 0"):
        MassSpectrum([50.0], [-1.0])
    with pytest.raises(ValueError, match="one of each per peak"):
        MassSpectrum([50.0], [1.0, 2.0])
    with pytest.raises(ValueError, match="precursor -5"):
        MassSpectrum([50.0], [1.0], -5.0)


@pytest.mark.parametrize("outputs", [SMILES, PACKED[:7]], ids=["SMILES", "packed"])
def test_a_model_from_spectra_to_molecules_is_saved_whole(tmp_path, outputs):
    pytest.importorskip("skops", reason="skops is not installed")
    kernel = 0.5 * (Peaks(width=0.5, weights="idf") + NeutralLosses(width=0.5))
    model = DependencyEstimator(kernel, Tanimoto(weights="idf"), alpha=0.1).fit(SPECTRA, outputs)
    loaded = mercer.load(mercer.save(model, tmp_path / "model.skops"))
    before, after = model.predict(SPECTRA), loaded.predict(SPECTRA)
    assert before.dtype == after.dtype
    np.testing.assert_array_equal(before, after)
    np.testing.assert_array_equal(model.decision_weights(SPECTRA), loaded.decision_weights(SPECTRA))


def test_more_bins_than_can_be_told_apart():
    with pytest.raises(ValueError, match="width=1e-09 in Peaks puts the peak furthest out into bin 1e.12"):
        Peaks(width=1e-9)([[(1e3, 1.0)]])


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (("ab", "c"), TypeError, "MassSpectrum has mz 'ab' and intensity 'c'; expected a number of each per peak"),
        (([1.0], [1.0], "x"), ValueError, "precursor 'x'; expected its m/z, a number above zero"),
    ],
)
def test_what_is_no_spectrum(arguments, error, message):
    with pytest.raises(error, match=message):
        MassSpectrum(*arguments)
