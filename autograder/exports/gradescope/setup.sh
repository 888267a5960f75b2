#!/usr/bin/env bash
# Gradescope runs this once, as root, when it builds the container of an assignment.
set -euo pipefail
source=${AUTOGRADER_ROOT:-/autograder}/source

for python in python3.13 python3.12 python3.11; do
    command -v "$python" >/dev/null && break
done
if ! "$python" -c 'import ensurepip, venv' 2>/dev/null; then
    apt-get update -q
    apt-get install -qy --no-install-recommends "$python" "$python-venv"
fi

# PIP_INDEX_URL or PIP_EXTRA_INDEX_URL may name an index with CPU builds of torch, which save gigabytes.
"$python" -m venv /opt/autograder
/opt/autograder/bin/pip install --quiet --no-cache-dir -c "$source/kit/constraints.txt" "$source/kit"
