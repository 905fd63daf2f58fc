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

# What the caller says counts, in every form that `placeto place` takes (-t NAME, -tNAME, -t=NAME,
# --topology NAME, --topology=NAME); the rest is filled in. Read before anything is installed or
# built, so that what is wrong is said at once.
graph='' topology='' budget='' placement='' report=''
take() { # option, value
  case "$1" in
    -t | --topology) topology=$2 ;;
    --budget | --budget-evals | --budget-ms) budget=$2 ;;
    -o | --output) placement=$2 ;;
    --report) report=$2 ;;
  esac
}
option='' # whose value comes next
for word in "$@"; do
  if [ -n "$option" ]; then
    take "$option" "$word"
    option=''
    continue
  fi
  case "$word" in
    -h | --help)
      sed -n '2,/^set /s/^# \{0,1\}//p' tools/quickstart.sh
      exit
      ;;
    --json | --no-color | --copy-shared | --tear-patterns | --) ;;
    --*=*) take "${word%%=*}" "${word#*=}" ;;
    --*) option=$word ;;
    -[a-z]=*) take "${word%%=*}" "${word#*=}" ;;
    -[a-z]?*) take "${word:0:2}" "${word:2}" ;;
    -[a-z]) option=$word ;;
    *) graph=$word ;;
  esac
done
if [ -n "$graph" ] && [ "$graph" != - ] && ! (cd "$start" && [ -r "$graph" ]); then
  echo "$graph: no such file" >&2
  exit 3
fi

# Before the caller's: those may end in `-- FILE`.
defaults=()
if [ -z "$graph" ]; then defaults+=("$out/inception_v3.graph"); fi
example=''
if [ -z "$topology" ]; then
  example=edge-cpu-gpu-npu
  defaults+=(-t "$example")
fi
if [ -z "$budget" ]; then defaults+=(--budget 2k); fi
if [ -z "$placement" ]; then defaults+=(--output "${placement:=$out/placement.json}"); fi
if [ -z "$report" ]; then defaults+=(--report "${report:=$out/report.html}"); fi

say "Installing what is missing"
install_packages "${placeto_packages[@]}"

say "Building Placeto into build/release"
cmake --preset release -DPLACETO_BUILD_TESTS=OFF -DPLACETO_BUILD_BENCHMARKS=OFF >/dev/null
cmake --build --preset release -j "$(nproc)" --target placeto_cli
mkdir -p "$out"

if [ -z "$graph" ]; then
  say "Generating Inception-V3"
  "$placeto" generate inception_v3 -o "$out/inception_v3.graph"
fi

say "Placing ${graph:-Inception-V3}"
cd "$start" # names of files are the caller's
"$placeto" place "${defaults[@]}" "$@"

where() { # a file as the caller named it
  case "$1" in
    -) echo "standard output" ;;
    /*) echo "$1" ;;
    *) echo "$start/$1" ;;
  esac
}
say "Done"
echo "Placement: $(where "$placement")"
echo "Report:    $(where "$report") (open it in a browser)"
if [ -n "$example" ]; then
  echo "Machine:   $example is an example; \`$placeto detect -o host.json\` describes this one (-t host.json)"
fi
echo "Next:      $placeto help"
