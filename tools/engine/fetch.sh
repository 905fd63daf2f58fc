#!/bin/sh
# Puts the headers and the library of ONNX Runtime into a folder: fetch.sh [--headers] FOLDER
# With --headers, those alone: what programs are built with that load a library of their machine.
#
# On Debian 13 and later nothing of this is needed: apt-get install libonnxruntime-dev.
# Debian 12 has no ONNX Runtime. There the headers come from Debian 13's libonnxruntime-dev,
# unpacked and not installed, and the library from the npm package onnxruntime-node. Both come
# through the clients of this machine, as they are set up here: apt's own source of packages is
# asked for the other suite, in a folder of its own, so that nothing of the system changes.
#
# Then: cmake --preset release -DONNXRUNTIME_ROOT=FOLDER
set -eu
headers_only=no
[ "${1:-}" = --headers ] && headers_only=yes && shift
[ $# -eq 1 ] || { echo "usage: $0 [--headers] FOLDER" >&2; exit 2; }
node_version=1.30.0
suite=trixie

skip() {
  echo "SKIPPED: $*" >&2
  exit 77
}

mkdir -p "$1/include" "$1/lib"
root=$(cd "$1" && pwd)
if [ -e "$root/include/onnxruntime_cxx_api.h" ]; then
  [ $headers_only = yes ] || [ -e "$root/lib/libonnxruntime.so" ] && exit 0
fi
command -v apt-get >/dev/null || skip "no apt-get here: put include/ and lib/ into $root by hand"
[ $headers_only = yes ] || command -v npm >/dev/null || skip "no npm here (Debian: npm)"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The mirror that this system uses, with another suite.
mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | sed -n 1p)
[ -n "$mirror" ] || skip "apt knows no source of packages (apt-get update)"
mkdir -p "$work/apt/lists/partial" "$work/apt/cache/archives/partial" "$work/apt/sources"
printf 'Types: deb\nURIs: %s\nSuites: %s\nComponents: main\nSigned-By: %s\n' "$mirror" "$suite" \
  /usr/share/keyrings/debian-archive-keyring.gpg >"$work/apt/sources/suite.sources"
apt() {
  apt-get -q -o Dir::Etc::SourceList=/dev/null -o Dir::Etc::SourceParts="$work/apt/sources" \
    -o Dir::State::Lists="$work/apt/lists" -o Dir::Cache="$work/apt/cache" "$@"
}
apt update >"$work/log" 2>&1 || skip "no packages of $suite can be had: $(tail -n 1 "$work/log")"
(cd "$work" && apt download libonnxruntime-dev >>"$work/log" 2>&1) ||
  skip "no libonnxruntime-dev: $(tail -n 1 "$work/log")"
dpkg -x "$work"/libonnxruntime-dev_*.deb "$work/dev"
cp -r "$work/dev/usr/include/onnxruntime/." "$root/include"
headers=$(basename "$work"/libonnxruntime-dev_*.deb .deb)
if [ $headers_only = yes ]; then
  echo "$root: headers of $headers"
  exit 0
fi

case $(uname -m) in
x86_64) folder=x64 ;;
aarch64) folder=arm64 ;;
*) skip "the npm package has no library for $(uname -m)" ;;
esac
# Its install script would download more, and is not run.
(cd "$work" && ONNXRUNTIME_NODE_INSTALL=skip npm pack --silent "onnxruntime-node@$node_version" >>"$work/log" 2>&1) ||
  skip "no onnxruntime-node $node_version: $(tail -n 1 "$work/log")"
tar -xzf "$work/onnxruntime-node-$node_version.tgz" -C "$work" "package/bin/napi-v6/linux/$folder"
cp "$work/package/bin/napi-v6/linux/$folder/libonnxruntime.so.1" "$root/lib"
ln -sf libonnxruntime.so.1 "$root/lib/libonnxruntime.so"
echo "$root: headers of $headers, library $node_version"
