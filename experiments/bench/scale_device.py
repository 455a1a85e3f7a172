"""``bench scale --device cuda``: the ridge regressions of many pairs on one device, each row saved as it finishes.

``python -m experiments.bench.scale_device OUTPUT [PAIRS]`` needs PyTorch, NumPy, SciPy, scikit-learn and numba alone. With a
number of pairs, every row has at most so many.
"""

from __future__ import annotations

import json
import platform
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from mercer.core.arrays import Array
from mercer.kernels import Gaussian
from mercer.operators import Covariance, Identity, Operator
from mercer.solvers import Auto, Cholesky, ConjugateGradient, Exact, LowRank, RidgeProblem, Solver
from mercer.structures.molecules import top_k_tanimoto

QUERIES = 1000


@dataclass(frozen=True)
class Case:
    """A fit and a prediction for 1,000 new inputs, with the seconds it is meant to take at most."""

    name: str
    pairs: int
    features: int
    outputs: int
    solver: Solver
    bar: float
    operator: Operator = Identity()  # noqa: RUF009 - a value
    alpha: float = 1.0

    @property
    def key(self) -> dict[str, Any]:
        """The sizes, as they stand in a row."""
        return {
            "method": self.name,
            "n": self.pairs,
            "d": self.features,
            "p": self.outputs,
            "solver": repr(self.solver),
        }


CASES = (
    Case("warm-up", 5_000, 32, 16, ConjugateGradient(500), 60.0),
    Case("conjugate gradients", 100_000, 32, 16, ConjugateGradient(10_000), 4.0),
    Case("conjugate gradients, single precision", 100_000, 32, 16, ConjugateGradient(10_000, precision="single"), 4.0),
    Case("conjugate gradients, fewer columns", 100_000, 32, 16, ConjugateGradient(5_000), 4.0),
    Case("exact", 100_000, 256, 128, Cholesky(), 11.0),
    Case("chosen by Auto", 100_000, 256, 128, Auto(), 11.0),
    Case("conjugate gradients", 100_000, 256, 128, ConjugateGradient(10_000), 11.0),
    Case("covariance, exact", 20_000, 32, 64, Exact(), 12.0, Covariance()),
    Case("covariance, conjugate gradients", 100_000, 32, 64, ConjugateGradient(8_000), 30.0, Covariance()),
    Case("low rank", 1_000_000, 32, 16, LowRank(8_000, tol=1e-12), 18.0),
    Case("sketched, columns computed again for each block", 1_000_000, 32, 16, LowRank(20_000, tol=1e-12), 18.0),
    Case("conjugate gradients", 300_000, 32, 16, ConjugateGradient(10_000), 60.0),
    Case("conjugate gradients, single precision", 300_000, 32, 16, ConjugateGradient(10_000, precision="single"), 60.0),
    Case("conjugate gradients", 1_000_000, 32, 16, ConjugateGradient(8_000), 240.0),
)

CANDIDATES, FINGERPRINTS, BITS, NEAREST = 1_000_000, 1000, 2048, 20
"""Sizes of the search for similar fingerprints, with its bar in seconds below."""
SEARCH_BAR = 0.1


def main(output: Path, device: str = "cuda", most: int | None = None) -> list[dict[str, Any]]:
    """Run all cases on a device, print a line for each, and write all rows so far to `output` after each."""
    import torch

    rows: list[dict[str, Any]] = []
    on_gpu = device.startswith("cuda")
    hardware = torch.cuda.get_device_name(device) if on_gpu else platform.processor() or platform.machine()
    tasks: list[Callable[[], dict[str, Any]]] = [lambda: searched(device, most)]
    tasks += [lambda case=case: case.key | measured(case, device, on_gpu) for case in limited(most)]  # type: ignore[misc]
    for task in tasks:
        rows.append(task())
        print(json.dumps(rows[-1]), flush=True)
        content = {"experiment": "bench-scale-device", "hardware": hardware, "torch": torch.__version__, "rows": rows}
        output.parent.mkdir(parents=True, exist_ok=True)
        output.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
    return rows


def searched(device: str, most: int | None = None) -> dict[str, Any]:
    """Return seconds of the search for the nearest of many random fingerprints that lie on the device, the median of five.

    The answer of 10 queries is compared with that of the processor.
    """
    import torch

    n = min(most or CANDIDATES, CANDIDATES)
    random = torch.Generator(device=device).manual_seed(0)

    def draw_bytes(rows: int) -> Any:
        shape = (rows, BITS // 8)
        # a quarter of the bits set, as in fingerprints that are dense
        one, two = (torch.randint(0, 256, shape, generator=random, device=device, dtype=torch.uint8) for _ in "ab")
        return one & two

    candidates, queries = draw_bytes(n), draw_bytes(FINGERPRINTS)
    took = []
    for _ in range(6):
        if device.startswith("cuda"):
            torch.cuda.synchronize()
        begin = time.perf_counter()
        found = top_k_tanimoto(queries.cpu().numpy(), candidates, NEAREST, device=device)
        took.append(time.perf_counter() - begin)
    seconds = sorted(took[1:])[2]
    few = top_k_tanimoto(queries[:10].cpu().numpy(), candidates.cpu().numpy(), NEAREST)
    return {
        "method": "nearest fingerprints",
        "n": n,
        "queries": FINGERPRINTS,
        "bits": BITS,
        "k": NEAREST,
        "seconds": seconds,
        "bar": SEARCH_BAR,
        "met": seconds <= SEARCH_BAR,
        "equal": bool((few.indices == found.indices[:10]).all()),
    }


def limited(most: int | None) -> Iterator[Case]:
    """Yield the cases, with at most so many pairs and preconditioners of a tenth of them."""
    for case in CASES:
        if most is None or case.pairs <= most:
            yield case
            continue
        solver: Any = type(case.solver)(**case.solver.get_params(deep=False))
        if "rank" in solver.get_params():
            solver.set_params(rank=min(solver.rank, max(1, most // 10)))
        yield replace(case, pairs=most, solver=solver)


def measured(case: Case, device: str, on_gpu: bool) -> dict[str, Any]:
    """Return seconds, peak memory, iterations and residual of a case; the error, if it fails, so that others still run."""
    import torch

    try:
        problem, queries = draw(case, device)
        if on_gpu:
            torch.cuda.empty_cache()
            torch.cuda.reset_peak_memory_stats(device)
        wait: Callable[[], None] = torch.cuda.synchronize if on_gpu else lambda: None
        wait()
        begin = time.perf_counter()
        chosen = case.solver.choose(problem).part
        found = chosen.factorize(problem)
        wait()
        built = time.perf_counter() - begin
        points = found.map(case.alpha).points(queries)
        wait()
        seconds = time.perf_counter() - begin
        return {
            "seconds": seconds,
            "factorize_seconds": built,
            "bar": case.bar,
            "met": seconds <= case.bar,
            "chosen": repr(chosen),
            "rank": found.rank,
            "iterations": getattr(found, "iterations", None),
            "residual": getattr(found, "reached", found.residual),
            "peak_GiB": torch.cuda.max_memory_allocated(device) / 2**30 if on_gpu else None,
            "finite": bool(torch.isfinite(points).all()),
        }
    except Exception as error:
        return {"failed": f"{type(error).__name__}: {error}"[:500], "trace": traceback.format_exc()[-1500:]}
    finally:
        if on_gpu:
            found = points = None
            torch.cuda.empty_cache()


def draw(case: Case, device: str) -> tuple[RidgeProblem, Array]:
    """Draw normal inputs and smooth functions of them with noise on the device, with a Gaussian of about the median scale."""
    import torch

    random = torch.Generator(device=device).manual_seed(0)

    def normal(*shape: int) -> Any:
        return torch.randn(*shape, generator=random, device=device, dtype=torch.float64)

    inputs, mix = normal(case.pairs + QUERIES, case.features), normal(case.features, case.outputs)
    outputs = torch.tanh(inputs @ mix / case.features**0.5) + 0.3 * normal(len(inputs), case.outputs)
    kernel, n = Gaussian((2.0 * case.features) ** 0.5), case.pairs
    problem = RidgeProblem(kernel, inputs[:n, :], outputs[:n, :], case.operator, alpha=case.alpha)
    return problem, inputs[n:, :]


if __name__ == "__main__":
    main(Path(sys.argv[1]), most=int(sys.argv[2]) if len(sys.argv) > 2 else None)
