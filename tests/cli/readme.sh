#!/usr/bin/env bash
# What the top README shows works, and prints what it says:
#   readme.sh PLACETO README_EXAMPLE SOURCE_FOLDER WORK_FOLDER
# README_EXAMPLE: the C++ code of the README, with a main that takes a graph and a topology.
set -euo pipefail
placeto=$1 example=$2 root=$3 work=$4
rm -rf "$work"
mkdir -p "$work"
cd "$work"
ln -s "$root/models" models

fail() {
  echo "FAILED: $*"
  exit 1
}

# The indented lines below a heading, without their indentation.
block() { awk -v heading="## $1" '/^## / { on = $0 == heading } on && sub(/^    /, "")' "$root/README.md"; }

# The commands, in their order. `report` compares two placements that nothing before it made.
placeto() { "$placeto" "$@"; }
cp models/default.plpo my.plpo
block "The command line" | sed '/placeto report/i cp placement.json a.json; cp placement.json b.json' >commands
grep -c '^placeto' commands || fail "no commands in the README"
set -x
. ./commands >output
set +x
for file in placement.json r.html trace.json net.json report.html; do
  [ -s "$file" ] || fail "the commands made no $file"
done

# What tools/quickstart.sh prints, but for the time it took.
placeto place net.graph -t models/topologies/edge-cpu-gpu-npu.json --budget-evals 2000 \
  -o first.json >first
without_time() { sed -n '/^inception_v3 (/,$p' "$1" | sed 's/, took .*//; s/ *$//; /^$/d'; }
block "Two commands" >shown
without_time shown | grep -q 'placed by' || fail "no table in the README"
diff <(without_time shown) <(without_time first) || fail "the README shows another table"

"$example" net.graph models/topologies/edge-cpu-gpu-npu.json >placed
[ "$(grep -c -- '->' placed)" = 314 ] || fail "the README's C++ code did not place all nodes"
