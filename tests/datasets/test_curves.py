import numpy as np
import pytest

from mercer.datasets import load_gait, load_growth, load_multi_target, load_weather, store
from mercer.datasets.vectors import MULTI_TARGET


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


@pytest.mark.data
def test_growth():
    there("functional")
    growth = load_growth()
    assert growth.ages[[0, -1]].tolist() == [1, 18]
    for heights in (growth.boys, growth.girls):
        assert np.all(np.diff(heights, axis=1) > -0.5)
        assert 60 < heights.min() < 75
    assert growth.boys[:, -1].mean() > growth.girls[:, -1].mean() + 10


@pytest.mark.data
@pytest.mark.parametrize("name", MULTI_TARGET)
def test_multi_target(name):
    there("multi_target")
    data = load_multi_target(name)
    assert (*data.X.shape, data.Y.shape[1]) == MULTI_TARGET[name]
    assert np.isfinite(data.X).all()
    assert np.isfinite(data.Y).all()


def test_another_multi_target_set_is_named():
    with pytest.raises(ValueError, match="name='rf1'; expected .atp1d., .edm."):
        load_multi_target("rf1")


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
