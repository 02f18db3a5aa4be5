#!/bin/sh
# Builds the program for installation: dist/copydesk in the target folder.
#
# On Linux x86_64 with valgrind it is linked twice. The first program serves for some seconds while
# valgrind notes its functions; in the second one these lie together, those that work most first.
# Why: docs/decisions/0073-used-functions-lie-together.md
#
# It needs the linker that rustc brings along there (LLD), and the result glibc 2.36 or newer.
set -eu
cd "$(dirname "$0")/.."
program=${CARGO_TARGET_DIR:-target}/dist/copydesk

build() {
    cargo rustc --locked --profile dist --bin copydesk -- "$@"
}

if [ "$(uname -sm)" != "Linux x86_64" ] || ! command -v valgrind > /dev/null; then
    echo "packaging/build.sh: not on Linux x86_64 with valgrind; the functions stay where they are" >&2
    build
    exit
fi

# The names of the functions are read from this one.
build -C strip=none

work=$(mktemp -d)
server=
clean_up() {
    [ -z "$server" ] || kill "$server" 2> /dev/null || true
    rm -rf "$work"
}
trap clean_up EXIT

token=cdk_packaging$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
valgrind --tool=callgrind --demangle=no --compress-strings=no --compress-pos=no \
    --callgrind-out-file="$work/calls" \
    "$program" serve --listen 127.0.0.1:0 --data "$work/data" --token "$token" \
    > "$work/out" 2> "$work/log" &
server=$!
tries=0
until grep -q '^copydesk listening on ' "$work/out"; do
    tries=$((tries + 1))
    if [ "$tries" -gt 600 ] || ! kill -0 "$server" 2> /dev/null; then
        cat "$work/log" >&2
        echo "packaging/build.sh: the server did not start under valgrind" >&2
        exit 1
    fi
    sleep 0.1
done
url=$(sed -n 's/^copydesk listening on //p' "$work/out")
"$program" bench --url "$url" --token "$token" --documents 5 --writers 2 --readers 2 --seconds 5
# Valgrind writes what it has noted when the server ends.
kill "$server"
wait "$server"
server=

# The cost of a function is in the lines below its name, but for those that follow a call.
awk '/^fn=/ { name = substr($0, 4); sub(/'\''[0-9]+$/, "", name); next }
    /^calls=/ { is_of_call = 1; next }
    /^[0-9+*-]/ { if (is_of_call) is_of_call = 0; else cost[name] += $2 }
    END { for (name in cost) print cost[name], name }' "$work/calls" |
    sort -k 1,1nr | cut -d ' ' -f 2- > "$work/order"
echo "packaging/build.sh: $(wc -l < "$work/order") functions lie together" >&2

build \
    -C link-arg=-Wl,--symbol-ordering-file="$work/order" \
    -C link-arg=-Wl,--no-warn-symbol-ordering \
    -C link-arg=-Wl,-z,pack-relative-relocs
