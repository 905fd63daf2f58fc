#!/usr/bin/env bash
# Fuzzes targets in turn, a slice of SLICE seconds each (300), until every one has had its processor
# time, and says what came of it. Clocks on the wall say little on a machine that others use.
#
#   tests/fuzz/run.sh BUILD MINUTES WORK [TARGET...]
#
# BUILD: a build folder of the preset fuzz. MINUTES: of processor time for each target. WORK: inputs
# that widen coverage gather in WORK/TARGET and what was spent in WORK/TARGET.spent, to go on from
# after an interruption; findings are WORK/found/TARGET-..., logs WORK/TARGET.log. All targets if
# none is named. Status 1 if something was found; that target is left alone from then on.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
build=$1 minutes=$2 work=$3
shift 3
if [ "$#" = 0 ]; then
  for program in "$build"/bin/fuzz_*; do set -- "$@" "${program##*/fuzz_}"; done
fi
mkdir -p "$work/found"
TIMEFORMAT='%U %S'

# The sum of a column of what every slice noted: seconds, executions.
spent() { awk -v column="$2" '{ sum += $column } END { printf "%d", sum }' "$work/$1.spent"; }

slice() {
  local target=$1 folders=("$work/$1" "$here/corpus/$1") verdict=clean
  local options=(-max_total_time="${SLICE:-300}" -max_len=8192 -timeout=1200 -rss_limit_mb=3000
    -print_final_stats=1 "-artifact_prefix=$work/found/$target-")
  case $target in
    *json) options+=("-dict=$build/json.dict") ;;
    structures) for form in graph topology placement policy onnx; do folders+=("$here/corpus/$form"); done ;;
  esac
  { time "$build/bin/fuzz_$target" "${options[@]}" "${folders[@]}" >"$work/$target.log" 2>&1; } \
    2>"$work/$target.time" || true
  if find "$work/found" -name "$target-*" ! -name '*-slow-unit-*' | grep -q .; then verdict=FOUND; fi
  local runs
  runs=$(grep -a -o 'number_of_executed_units: *[0-9]*' "$work/$target.log" | grep -o '[0-9]*$' || true)
  awk -v runs="${runs:-0}" -v verdict="$verdict" 'END { print $1 + $2, runs, verdict }' \
    "$work/$target.time" >>"$work/$target.spent"
}

going=1
while [ "$going" = 1 ]; do
  going=0
  for target in "$@"; do
    mkdir -p "$work/$target"
    touch "$work/$target.spent"
    if grep -q FOUND "$work/$target.spent" || [ "$(spent "$target" 1)" -ge $((60 * minutes)) ]; then
      continue
    fi
    slice "$target"
    going=1
  done
done

status=0
for target in "$@"; do
  verdict=clean
  if grep -q FOUND "$work/$target.spent"; then verdict=FOUND status=1; fi
  cover=$(grep -a -o 'cov: [0-9]*' "$work/$target.log" | tail -n 1 || true)
  printf '%-16s %s  %s s of processor time, %s runs, %s\n' \
    "$target" "$verdict" "$(spent "$target" 1)" "$(spent "$target" 2)" "${cover:-?}"
done
exit "$status"
