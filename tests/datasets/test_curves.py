import numpy as np
import pytest

from mercer.datasets import load_gait, load_weather, store


def there(folder):
    if store.data_folder() is None or not (store.data_folder() / folder).is_dir():
        pytest.skip(f"needs the curves: set MERCER_DATA to a folder that holds {folder}/")


@pytest.mark.data
def test_weather():
    there("canadian_weather")
    weather = load_weather()
    assert weather.temperature.shape == weather.precipitation.shape == (35, 365)
    filled = np.where(weather.precipitation == 0, 0.05, weather.precipitation)
    np.testing.assert_allclose(weather.log_precipitation, np.log10(filled), atol=1e-12)
    assert np.sum(weather.precipitation == 0) == 27
    names, counts = np.unique(weather.region, return_counts=True)
    assert dict(zip(names, counts, strict=True)) == {"Atlantic": 15, "Continental": 12, "Pacific": 5, "Arctic": 3}
    # the coldest place of all has the name one expects
    assert weather.station[np.argmin(weather.temperature.mean(axis=1))] == "Resolute"


@pytest.mark.data
def test_gait():
    there("functional")
    gait = load_gait()
    assert gait.hip.shape == gait.knee.shape == (39, 20)
    np.testing.assert_allclose(gait.times, np.arange(20) / 20 + 0.025)
    left_out = (gait.knee - gait.knee.mean(axis=0)) * 39 / 38
    assert np.mean(left_out**2) == pytest.approx(38.22, abs=0.01)


@pytest.mark.parametrize(
    ("load", "name", "arrays"),
    [
        (load_gait, "functional/gait.npz", {"hip": np.zeros((39, 20)), "knee": np.zeros((39, 19)), "t": np.zeros(20)}),
        (load_weather, "canadian_weather/canadian_weather.npz", {"temp": np.zeros((35, 365))}),
    ],
)
def test_archive_of_the_wrong_shape(tmp_path, monkeypatch, load, name, arrays):
    path = tmp_path / name
    path.parent.mkdir()
    np.savez(path, **arrays)
    monkeypatch.setenv("MERCER_DATA", str(tmp_path))
    monkeypatch.setitem(store.SOURCES, name, store.Source(store.hashlib.sha256(path.read_bytes()).hexdigest()))
    with pytest.raises(ValueError, match=f"{name} holds .*; expected "):
        load()
