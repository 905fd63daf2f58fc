#!/usr/bin/env bash
# From a fresh Debian (12 or later) to a placed network: installs what is missing, builds, generates
# Inception-V3, places it on a machine with three unlike devices, and writes a report.
#
# Works as root or with sudo. Safe to run again: then it only builds what changed.
# Another topology: tools/quickstart.sh models/topologies/2xk80.json
set -euo pipefail
start=$PWD
cd "$(dirname "$0")/.."
. tools/packages.sh

topology=models/topologies/edge-cpu-gpu-npu.json
if [ $# -gt 0 ]; then
  topology=$(cd "$start" && realpath -- "$1")
fi
out=build/quickstart

say "Installing what is missing"
install_packages "${placeto_packages[@]}"

say "Building Placeto into build/release"
cmake --preset release -DPLACETO_BUILD_TESTS=OFF -DPLACETO_BUILD_BENCHMARKS=OFF >/dev/null
cmake --build --preset release -j "$(nproc)" --target placeto_cli

placeto=build/release/bin/placeto
mkdir -p "$out"

say "Generating Inception-V3"
"$placeto" generate inception_v3 -o "$out/inception_v3.graph"
"$placeto" inspect "$out/inception_v3.graph"

say "Placing it on $topology"
"$placeto" place "$out/inception_v3.graph" --topology "$topology" --budget-evals 2000 \
  --output "$out/placement.json" --report "$out/report.html"

say "Done"
echo "Placement: $PWD/$out/placement.json"
echo "Report:    $PWD/$out/report.html (open it in a browser)"
echo "Next:      $placeto --help"
