"""Clocks on the wall and moments: a time without a zone may be one moment, two, or none, where clocks are changed."""

from __future__ import annotations

from datetime import UTC, datetime, tzinfo

OF_A_ZONE = "a time zone such as +01:00 or Z"


def readings(wall: datetime, zone: tzinfo) -> list[datetime]:
    """The moments (UTC, in order) at which clocks of `zone` show `wall`, a time without a zone.

    One on most days; two where clocks are set back over it; none where they are set forward over it.
    """
    shown = [moment for moment in guesses(wall, zone) if moment.astimezone(zone).replace(tzinfo=None, fold=0) == wall]
    return sorted(set(shown))


def guesses(wall: datetime, zone: tzinfo) -> tuple[datetime, datetime]:
    """The earliest and the latest moment (UTC) that can be meant by `wall`.

    Where clocks never show it: by the offset that holds after the change, and by the one that held before.
    """
    first, second = (wall.replace(tzinfo=zone, fold=fold).astimezone(UTC) for fold in (0, 1))
    return min(first, second), max(first, second)


def placed(moment: datetime, zone: tzinfo) -> datetime:
    """The same moment on the clocks of `zone`; a time without a zone is taken as one of them.

    Raises ValueError with the sentence to show: clocks of the zone show that time twice, or never.
    """
    if moment.utcoffset() is not None:
        return moment.astimezone(zone)
    found = readings(moment, zone)
    if len(found) != 1:
        often = "comes twice" if found else "does not exist"
        raise ValueError(f"{often} in {zone}, where clocks are changed then; end it with {OF_A_ZONE}")
    return found[0].astimezone(zone)
