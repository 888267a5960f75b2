"""x"""

from __future__ import annotations

from attacks.corpus import Attack

ATTACKS: list[Attack] = []
