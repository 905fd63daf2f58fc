#!/usr/bin/env bash
# From a fresh Debian (12 or later) to a placed network: installs what is missing, builds the command
# `placeto` and nothing else, places a network on a machine, and writes a report.
#
#   tools/quickstart.sh                            Inception-V3 on a CPU, a GPU and an NPU
#   tools/quickstart.sh model.onnx                 a model of yours
#   tools/quickstart.sh model.onnx -t host.json    on a machine of yours, or a built-in one: -t 2xk80
#   tools/quickstart.sh model.onnx --dim batch=1   and whatever else `placeto place` takes
#
# Works as root or with sudo. Safe to run again: then it only builds what changed.
set -euo pipefail
start=$PWD
cd "$(dirname "$0")/.."
. tools/packages.sh

out=$PWD/build/quickstart
placeto=$PWD/build/release/bin/placeto

say "Installing what is missing"
install_packages "${placeto_packages[@]}"

say "Building Placeto into build/release"
cmake --preset release -DPLACETO_BUILD_TESTS=OFF -DPLACETO_BUILD_BENCHMARKS=OFF >/dev/null
cmake --build --preset release -j "$(nproc)" --target placeto_cli
mkdir -p "$out"

if [ $# -eq 0 ]; then
  say "Generating Inception-V3"
  "$placeto" generate inception_v3 -o "$out/inception_v3.graph"
  set -- "$out/inception_v3.graph"
fi
case " $* " in
  *" -t "* | *" --topology"*) ;;
  *) set -- "$@" -t edge-cpu-gpu-npu ;;
esac

say "Placing $1"
cd "$start" # names of files are the caller's
"$placeto" place "$@" --budget 2k --output "$out/placement.json" --report "$out/report.html"

say "Done"
echo "Placement: $out/placement.json"
echo "Report:    $out/report.html (open it in a browser)"
echo "Next:      $placeto help"
