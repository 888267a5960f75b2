"""Zip archives whose bytes depend on names and contents only."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping


def zipped(files: Mapping[str, bytes], folder: str = "") -> bytes:
    """The files, in one folder where it has a name. Nothing is compressed (compressors differ), and times and
    permissions are fixed."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for path, data in sorted(files.items()):
            entry = zipfile.ZipInfo(f"{folder}/{path}" if folder else path, (1980, 1, 1, 0, 0, 0))
            entry.create_system = 3  # Unix, on every machine, so that the permissions below hold
            entry.external_attr = 0o100644 << 16
            archive.writestr(entry, data)
    return buffer.getvalue()
