#!/usr/bin/env bash
# Fuzzes one target after the other and says what came of it.
#
#   tests/fuzz/run.sh BUILD MINUTES WORK [TARGET...]
#
# BUILD: a build folder of the preset fuzz. WORK: inputs that widen coverage gather in WORK/TARGET,
# to go on from next time; findings are WORK/found/TARGET-..., logs WORK/TARGET.log. All targets if
# none is named. Status 1 if something was found.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
build=$1 minutes=$2 work=$3
shift 3
if [ "$#" = 0 ]; then
  for program in "$build"/bin/fuzz_*; do set -- "$@" "${program##*/fuzz_}"; done
fi
mkdir -p "$work/found"
status=0
for target in "$@"; do
  mkdir -p "$work/$target"
  options=(-max_total_time=$((60 * minutes)) -max_len=8192 -timeout=120 -rss_limit_mb=3000
    -print_final_stats=1 "-artifact_prefix=$work/found/$target-")
  case $target in *json) options+=("-dict=$here/json.dict") ;; esac
  verdict=clean
  TIMEFORMAT=%U
  { time "$build/bin/fuzz_$target" "${options[@]}" "$work/$target" "$here/corpus/$target" \
    >"$work/$target.log" 2>&1; } 2>"$work/time" || { verdict=FOUND status=1; }
  runs=$(grep -a -o 'number_of_executed_units: *[0-9]*' "$work/$target.log" | grep -o '[0-9]*$' || true)
  cover=$(grep -a -o 'cov: [0-9]*' "$work/$target.log" | tail -n 1 || true)
  printf '%-16s %s  %s minutes, %s s of processor time, %s runs, %s\n' \
    "$target" "$verdict" "$minutes" "$(tail -n 1 "$work/time")" "${runs:-?}" "${cover:-?}"
done
exit "$status"
