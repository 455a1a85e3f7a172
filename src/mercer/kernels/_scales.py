"""Former place of `median_of`, which is now in `mercer.kernels.vectors`."""

from mercer.kernels.vectors import median_of as median_of
