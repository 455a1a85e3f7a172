"""Search for the most similar fingerprints on a device of PyTorch: shared bits are counted by matrix products."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.core.arrays import is_torch_array, on_device, to_numpy

_GROUP = 128
"""Neighbouring candidates of which the best is found first; the k best lie in the k groups whose best is highest."""

_MOST_BITS, _EXACT_IN_HALF = 4088, 2048
"""Bits of fingerprints whose similarities are told apart in single precision, and whose counts are whole in half precision."""

_LAST = 2**32 - 1
"""Candidates are numbered in the lower half of a 64-bit key, the first highest."""


class DeviceBest:
    """The k best candidates of each query so far, as 64-bit keys: the bits of the similarity, then the place from the end."""

    def __init__(self, queries: Any, k: int, device: str) -> None:
        packed = on_device(queries, device)
        bits = 8 * packed.shape[1]
        if bits > _MOST_BITS:
            raise ValueError(
                f"queries have {bits} bits; expected at most {_MOST_BITS} on a device. Leave device=None to search without"
            )
        self.k, self.device, self.width = k, device, packed.shape[1]
        self.half = packed.device.type != "cpu" and bits <= _EXACT_IN_HALF
        self.queries = self._unpacked(packed)
        self.counts = self._counts(self.queries)
        self.keys: Any = None
        self.seen = 0

    def merge(self, block: Any) -> None:
        """Compare the queries with a block of packed candidates."""
        import torch

        packed = on_device(block, self.device)
        if packed.shape[1] != self.width:
            lengths = f"candidates have {packed.shape[1]} bytes each and queries {self.width}"
            raise ValueError(f"{lengths}; expected fingerprints of one length")
        rows = packed.shape[0]
        bits = self._unpacked(packed)
        # whole numbers up to the number of bits are exact
        common = (self.queries @ bits.T).float()
        union = (self.counts[:, None] + self._counts(bits)) - common
        values = torch.where(union > 0, common / union.clamp_(min=1.0), torch.ones_like(common))
        values = torch.nn.functional.pad(values, (0, -rows % _GROUP), value=-1.0)
        groups = values.reshape(values.shape[0], -1, _GROUP)
        best = _keys(groups.amax(dim=2), torch.arange(groups.shape[1], device=values.device))
        chosen = best.topk(min(self.k, groups.shape[1]), dim=1).values
        chosen = _LAST - (chosen & _LAST)
        inside = groups.gather(1, chosen[:, :, None].expand(-1, -1, _GROUP))
        places = chosen[:, :, None] * _GROUP + torch.arange(_GROUP, device=values.device)
        keys = _keys(inside, places + self.seen).reshape(values.shape[0], -1)
        keys = keys if self.keys is None else torch.cat([self.keys, keys], dim=1)
        self.seen += rows
        self.keys = keys.topk(min(self.k, self.seen, keys.shape[1]), dim=1).values

    def found(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the positions of the best candidates, and their similarities."""
        import torch

        values = (self.keys >> 32).to(torch.int32).view(torch.float32)
        return to_numpy(_LAST - (self.keys & _LAST)), to_numpy(values).astype(float)

    def _unpacked(self, packed: Any) -> Any:
        import torch

        shifts = torch.arange(7, -1, -1, dtype=torch.uint8, device=packed.device)
        bits = (packed[:, :, None] >> shifts) & 1
        return bits.reshape(packed.shape[0], -1).to(torch.float16 if self.half else torch.float32)

    def _counts(self, bits: Any) -> Any:
        import torch

        return bits.sum(dim=1, dtype=torch.float32)


def _keys(values: Any, places: Any) -> Any:
    """Whole numbers in the order of the values, and of equal ones from the last place to the first."""
    import torch

    # numbers from zero are in the order of their bits; padding is below all of them
    bits = values.contiguous().view(torch.int32).to(torch.int64)
    bits = torch.where(values < 0, torch.full_like(bits, -1), bits)
    return (bits << 32) | (_LAST - places)


def packed_rows(block: Any) -> Any:
    """Return a tensor of packed bytes as it is; None for anything else, which is checked first."""
    if not is_torch_array(block):
        return None
    if str(block.dtype) != "torch.uint8" or block.ndim != 2:
        raise TypeError(f"candidates are a tensor of dtype {block.dtype}; expected packed fingerprints, rows of uint8")
    return block
