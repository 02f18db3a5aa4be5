#!/bin/sh
# Installs Copydesk @VERSION@ below a folder, and writes nowhere else.
#
#   sh install.sh [--prefix DIR]      the default is ~/.local, with ~/.local/bin/copydesk
#   sh install.sh --uninstall [--prefix DIR]
#
# COPYDESK_DOWNLOADS is the address of another folder with the files of this release.
# It needs curl or wget, tar, and sha256sum or shasum. Nothing needs root, unless DIR does.
set -eu

version=@VERSION@
downloads=${COPYDESK_DOWNLOADS:-@DOWNLOADS@}
prefix=${HOME:-}/.local
uninstall=

fail() {
    echo "install.sh: $*" >&2
    exit 1
}

download() {
    if command -v curl > /dev/null; then
        curl --fail --silent --show-error --location --output "$2" "$1"
    elif command -v wget > /dev/null; then
        wget --quiet --output-document="$2" "$1"
    else
        fail "curl or wget is needed"
    fi || fail "$1 could not be downloaded"
}

sum_of() {
    if command -v sha256sum > /dev/null; then
        sha256sum "$1"
    elif command -v shasum > /dev/null; then
        shasum -a 256 "$1"
    else
        fail "sha256sum or shasum is needed"
    fi | cut -d ' ' -f 1
}

platform() {
    case "$(uname -s) $(uname -m)" in
        "Linux x86_64") echo x86_64-unknown-linux-gnu ;;
        "Linux aarch64") echo aarch64-unknown-linux-gnu ;;
        "Darwin arm64") echo aarch64-apple-darwin ;;
        *) fail "there is no program for $(uname -sm); build it from the source archive" ;;
    esac
}

# The files that an installation has, relative to the prefix.
installed_files() {
    echo bin/copydesk
    echo share/bash-completion/completions/copydesk
    echo share/zsh/site-functions/_copydesk
    echo share/fish/vendor_completions.d/copydesk.fish
    for page in "$prefix"/share/man/man1/copydesk.1 "$prefix"/share/man/man1/copydesk-*.1; do
        [ ! -e "$page" ] || echo "${page#"$prefix"/}"
    done
}

# Everything is in this function, so that a script that arrives in part does nothing.
main() {
    while [ $# -gt 0 ]; do
        case $1 in
            --prefix)
                [ $# -ge 2 ] || fail "--prefix needs a folder"
                prefix=$2
                shift
                ;;
            --uninstall) uninstall=yes ;;
            *) fail "usage: install.sh [--prefix DIR] [--uninstall]" ;;
        esac
        shift
    done
    [ "$prefix" != /.local ] || fail "there is no HOME; say --prefix DIR"

    if [ -n "$uninstall" ]; then
        installed_files | while read -r file; do rm -f "$prefix/$file"; done
        echo "Copydesk is uninstalled from $prefix. Folders with documents (copydesk-data) stay."
        return
    fi

    case $downloads in
        @*) fail "this script belongs to no published release; set COPYDESK_DOWNLOADS" ;;
    esac
    name=copydesk-$version-$(platform)
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    download "$downloads/$name.tar.gz" "$work/$name.tar.gz"
    download "$downloads/SHA256SUMS" "$work/SHA256SUMS"
    wanted=$(sed -n "s/^\([0-9a-f]\{64\}\) [ *]$name\.tar\.gz\$/\1/p" "$work/SHA256SUMS")
    [ -n "$wanted" ] || fail "SHA256SUMS does not name $name.tar.gz"
    [ "$(sum_of "$work/$name.tar.gz")" = "$wanted" ] ||
        fail "$name.tar.gz is not the file that SHA256SUMS names; nothing was installed"
    tar -xzf "$work/$name.tar.gz" -C "$work"

    mkdir -p "$prefix"
    prefix=$(cd "$prefix" && pwd)
    cd "$work/$name"
    mkdir -p "$prefix/bin" "$prefix/share/man/man1" "$prefix/share/bash-completion/completions" \
        "$prefix/share/zsh/site-functions" "$prefix/share/fish/vendor_completions.d"
    # A running program cannot be written over, but replaced.
    cp copydesk "$prefix/bin/copydesk.new"
    mv "$prefix/bin/copydesk.new" "$prefix/bin/copydesk"
    cp man/*.1 "$prefix/share/man/man1/"
    cp completions/copydesk.bash "$prefix/share/bash-completion/completions/copydesk"
    cp completions/_copydesk "$prefix/share/zsh/site-functions/_copydesk"
    cp completions/copydesk.fish "$prefix/share/fish/vendor_completions.d/copydesk.fish"

    echo "Copydesk $version is installed: $prefix/bin/copydesk"
    case :$PATH: in
        *":$prefix/bin:"*) ;;
        *) echo "$prefix/bin is not on your PATH." ;;
    esac
    echo "To uninstall it, run this script with --uninstall --prefix $prefix, or remove:"
    installed_files | sed "s|^|  $prefix/|"
}

main "$@"
