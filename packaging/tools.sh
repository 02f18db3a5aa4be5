#!/usr/bin/env bash
# Installs what packaging/release.sh needs besides Rust, Node and Python, into a folder. Prints what
# to put on the PATH.
#   PATH="$(packaging/tools.sh FOLDER):$PATH"
# What is there in these versions is left as it is.
set -euo pipefail
mkdir -p "$1"
folder=$(cd "$1" && pwd)

crates=(cargo-auditable@0.7.7)
# The source archive, the bills of materials and the Debian package are made on Linux only.
[ "$(uname -s)" != Linux ] || crates+=(cargo-cyclonedx@0.5.9 cargo-deb@3.8.0)
cargo install --quiet --locked --root "$folder" "${crates[@]}" >&2

python=$folder/python
[ -d "$python" ] || python3 -m venv "$python"
scripts=$python/bin
[ -d "$scripts" ] || scripts=$python/Scripts
"$scripts/python" -m pip install --quiet --disable-pip-version-check maturin==1.16.0 >&2
mkdir -p "$folder/bin"
cp "$scripts"/maturin* "$folder/bin"
echo "$folder/bin"
