#!/bin/sh
# Makes the source archive of a release: the files of this checkout, the built editor in web/dist,
# and web/dist.sha256 with the sums of both (build/web_sources.rs reads it). The same files give the
# same bytes.
#   packaging/source_archive.sh EDITOR VERSION FILE.tar.gz
# EDITOR is the folder of the editor that was built from the files of this checkout.
set -eu
editor=$(cd "$1" && pwd)
name=copydesk-$2
file=$(cd "$(dirname "$3")" && pwd)/$(basename "$3")
cd "$(dirname "$0")/.."

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tree=$work/$name
mkdir "$tree"
# Deleted files are listed too, until they are committed.
git ls-files -z --cached --others --exclude-standard > "$work/files"
tar --create --null --files-from "$work/files" --ignore-failed-read |
    tar --extract --directory "$tree"
mkdir "$tree/web/dist"
cp -R "$editor/." "$tree/web/dist"

(
    cd "$tree/web"
    # As in build/web_sources.rs, where a test compares the two lists.
    find package.json package-lock.json index.html tsconfig.json vite.config.ts public src dist \
        -type f ! -path '*.test.*' | LC_ALL=C sort | tr '\n' '\0' | xargs -0 sha256sum > dist.sha256
)

moment=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
tar --create --directory "$work" --sort=name --owner=0 --group=0 --numeric-owner \
    --mode='u+rw,go+r,go-w,a+X' --mtime="@$moment" "$name" |
    gzip -9 -n > "$file"
