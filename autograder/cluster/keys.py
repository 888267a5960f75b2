"""TLS between this machine, the scheduler and the nodes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from distributed import Security


@dataclass(frozen=True)
class Keys:
    """Files for TLS, PEM: the certificate of the authority, and this side's own certificate and key."""

    ca_file: Path
    cert: Path
    key: Path

    def security(self) -> Security:
        """For dask: nothing is said or heard without encryption, in whatever role."""
        from distributed import Security

        own: dict[str, Any] = {}
        for role in ("client", "scheduler", "worker"):
            own |= {f"tls_{role}_cert": str(self.cert), f"tls_{role}_key": str(self.key)}
        return Security(tls_ca_file=str(self.ca_file), require_encryption=True, **own)
