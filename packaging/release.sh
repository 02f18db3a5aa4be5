#!/usr/bin/env bash
# Makes what a release publishes for this machine's platform, into a folder.
#   packaging/release.sh [VERSION]
# VERSION has to be the one of Cargo.toml, with or without a `v` before it.
#
# COPYDESK_PACKAGES   folder of the files; the default is `packages` in the target folder. Those of
#                     an earlier run are deleted
# COPYDESK_PROFILE    profile of the build; the default is `dist`. `release` takes less time to
#                     build, to try this script
# COPYDESK_DOWNLOADS  address of the folder in which the files will be published, for install.sh
#
# It needs cargo-auditable, cargo-cyclonedx, maturin, Node with npm, and for the Debian package
# cargo-deb and dpkg-dev. The program needs the C library of this machine, or a newer one.
set -euo pipefail
cd "$(dirname "$0")/.."

profile=${COPYDESK_PROFILE:-dist}
target=$(mkdir -p "${CARGO_TARGET_DIR:-target}" && cd "${CARGO_TARGET_DIR:-target}" && pwd)
version=$(sed -n '/^\[workspace.package\]/,/^\[/ s/^version = "\(.*\)"/\1/p' Cargo.toml)
platform=$(rustc --version --verbose | sed -n 's/^host: //p')
case $platform in *windows*) program=copydesk.exe ;; *) program=copydesk ;; esac
built=$target/$profile/$program
packages=${COPYDESK_PACKAGES:-$target/packages}
# Beside the program, where cargo-deb finds it.
staged=$target/$profile/package

step() { printf '\n== %s\n' "$*" >&2; }

fail() {
  echo "packaging/release.sh: $*" >&2
  exit 1
}

check_version() {
  local wanted=${1:-$version}
  [ "${wanted#v}" = "$version" ] || fail "Cargo.toml has version $version, not $wanted"
}

# The list of crates is in the program too: `cargo audit bin copydesk` reads it.
build_program() {
  step "the program: cargo auditable build --profile $profile"
  cargo auditable build --locked --profile "$profile" --bin copydesk
}

# What belongs to the program on every platform.
stage() {
  step "manual pages and completions"
  rm -rf "$staged"
  mkdir -p "$staged/man" "$staged/completions"
  "$built" man "$staged/man"
  "$built" completions bash >"$staged/completions/copydesk.bash"
  "$built" completions zsh >"$staged/completions/_copydesk"
  "$built" completions fish >"$staged/completions/copydesk.fish"
}

source_archive() {
  step "source archive"
  packaging/source_archive.sh "${COPYDESK_WEB_DIST:-$target/copydesk-web/dist}" "$version" \
    "$packages/copydesk-$version-source.tar.gz"
}

program_archive() {
  step "archive with the program"
  local name=copydesk-$version-$platform
  local work
  work=$(mktemp -d)
  mkdir "$work/$name"
  cp "$built" LICENSE README.md CHANGELOG.md packaging/copydesk.service "$work/$name"
  cp -R "$staged/man" "$staged/completions" "$work/$name"
  tar -czf "$packages/$name.tar.gz" -C "$work" "$name"
  rm -rf "$work"
}

debian_package() {
  step "Debian package"
  gzip -9 -n -k "$staged"/man/*.1
  cargo deb --locked --no-build --no-strip --profile "$profile" --output "$packages"
}

# maturin builds by itself. Its cargo is the one of above, so nothing is compiled again and the
# program is the same.
python_wheel() {
  step "Python wheel"
  local work
  work=$(mktemp -d)
  cat >"$work/cargo" <<END
#!/bin/sh
export CARGO="$(command -v cargo)"
[ "\$1" != rustc ] || exec cargo-auditable auditable "\$@"
exec "\$CARGO" "\$@"
END
  chmod +x "$work/cargo"
  (cd packaging/python &&
    CARGO="$work/cargo" maturin build --locked --profile "$profile" --out "$packages")
  rm -rf "$work"
}

npm_packages() {
  step "npm packages"
  node packaging/npm/pack.mjs "$built" "$version" "$packages"
}

# cargo-cyclonedx writes beside each Cargo.toml, so it works in a copy.
bills_of_materials() {
  step "bills of materials (CycloneDX)"
  local work
  work=$(mktemp -d)
  tar -xzf "$packages/copydesk-$version-source.tar.gz" -C "$work" --strip-components 1
  (cd "$work" &&
    cargo cyclonedx --quiet --format json --spec-version 1.5 --override-filename copydesk.cdx)
  cp "$work/copydesk.cdx.json" "$packages/copydesk-$version-$platform.cdx.json"
  (cd "$work/web" && npm sbom --package-lock-only --omit dev --sbom-format cyclonedx) \
    >"$packages/copydesk-$version-editor.cdx.json"
  rm -rf "$work"
}

install_script() {
  sed -e "s|@VERSION@|$version|g" -e "s|@DOWNLOADS@|${COPYDESK_DOWNLOADS:-@DOWNLOADS@}|g" \
    packaging/install.sh >"$packages/install.sh"
}

check_version "$@"
packages=$(mkdir -p "$packages" && cd "$packages" && pwd)
rm -f "$packages"/copydesk* "$packages/install.sh" "$packages/SHA256SUMS"
build_program
stage
program_archive
python_wheel
npm_packages
if [ "$(uname -s)" = Linux ]; then
  source_archive
  bills_of_materials
  debian_package
  install_script
fi
command -v sha256sum >/dev/null || sha256sum() { shasum -a 256 "$@"; }
(cd "$packages" && sha256sum -- * >"$target/SHA256SUMS" && mv "$target/SHA256SUMS" SHA256SUMS)
step "$packages"
ls -l "$packages" >&2
