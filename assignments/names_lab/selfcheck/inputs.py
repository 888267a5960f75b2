"""Fresh random inputs for checks, from one recorded seed.

Every check draws from its own stream, seeded by the run's seed and the check's name: the inputs are the same for all
submissions of one run, new in every run, and can be drawn again from the seed that a receipt holds.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence

import torch


def stream_seed(run_seed: int, name: str) -> int:
    """A 63-bit seed for the stream `name` of a run."""
    digest = hashlib.sha256(f"{run_seed}:{name}".encode()).digest()
    return int.from_bytes(digest[:8], "big") >> 1


class Inputs:
    """Random tensors and numbers for one check."""

    def __init__(self, seed: int) -> None:
        self._generator = torch.Generator().manual_seed(seed)

    def normal(
        self, *shape: int, scale: float = 1.0, shift: float = 0.0, dtype: torch.dtype = torch.float32
    ) -> torch.Tensor:
        """Normal values of this shape."""
        return torch.randn(shape, generator=self._generator, dtype=dtype) * scale + shift

    def uniform(self, low: float, high: float, *shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
        """Uniform values in [low, high)."""
        return torch.rand(shape, generator=self._generator, dtype=dtype) * (high - low) + low

    def integers(self, high: int, *shape: int) -> torch.Tensor:
        """int64 values in [0, high)."""
        return torch.randint(high, shape, generator=self._generator)

    def integer(self, low: int, high: int) -> int:
        """One Python int in [low, high], both included."""
        return int(torch.randint(low, high + 1, (), generator=self._generator))

    def permutation(self, n: int) -> torch.Tensor:
        """A random order of 0 to n - 1, int64."""
        return torch.randperm(n, generator=self._generator)

    def seed(self) -> int:
        """A seed for a generator in the student's process."""
        return self.integer(0, 2**31 - 1)

    def gains(self, n: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
        """Norm gains [n]: far from 1 and from 0, of both signs."""
        sign = torch.randint(2, (n,), generator=self._generator) * 2 - 1
        return (self.uniform(0.4, 1.9, n, dtype=dtype) * sign).to(dtype)

    def shifts(self, n: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
        """Norm shifts or biases [n]: far from 0."""
        return self.gains(n, dtype)

    def weight(self, out_features: int, in_features: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
        """A weight matrix [out, in] of normal values over the root of `in_features`."""
        return self.normal(out_features, in_features, scale=in_features**-0.5, dtype=dtype)

    def state(self, shapes: Mapping[str, Sequence[int]], dtype: torch.dtype = torch.float32) -> dict[str, torch.Tensor]:
        """A random state dict: matrices as `weight`, 1-d weights as `gains`, other vectors as `shifts`."""
        state = {}
        for name, shape in shapes.items():
            if len(shape) > 1:
                state[name] = self.normal(*shape, scale=shape[-1] ** -0.5, dtype=dtype)
            else:
                state[name] = self.gains(shape[0], dtype)
        return state
