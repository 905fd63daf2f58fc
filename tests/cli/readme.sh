#!/usr/bin/env bash
# What the top README shows works, and prints what it says:
#   readme.sh PLACETO README_EXAMPLE SOURCE_FOLDER WORK_FOLDER
# README_EXAMPLE: the C++ code of the README.
set -euo pipefail
placeto=$1 example=$2 root=$3 work=$4
rm -rf "$work"
mkdir -p "$work/bin"
cd "$work"
ln -s "$root/models" models
ln -s "$placeto" bin/placeto
PATH=$work/bin:$PATH

fail() {
  echo "FAILED: $*"
  exit 1
}

# The indented lines below a heading, without their indentation.
block() { awk -v heading="## $1" '/^## / { on = $0 == heading } on && sub(/^    /, "")' "$root/README.md"; }

# Every command line, in their order.
for heading in "Your model, your machine" "The command line"; do
  block "$heading" | grep '^placeto ' >commands || fail "no commands below '$heading'"
  set -x
  . ./commands >output
  set +x
done
for file in host.json placement.json stages/manifest.json report.html trace.json net.json; do
  [ -s "$file" ] || fail "the commands made no $file"
done

# What tools/quickstart.sh prints, but for the time it took.
placeto place models/example.onnx --dim batch=1 -t edge-cpu-gpu-npu --budget 2k >first
without_time() { sed -n '/^example (/,$p' "$1" | sed 's/, took .*//; s/ *$//; /^$/d'; }
block "Your model, your machine" | sed '/^proved/q' >shown
without_time shown | grep -q 'placed by' || fail "no table in the README"
diff <(without_time shown) <(without_time first) || fail "the README shows another table"

placeto convert models/topologies/cpu+gpu.json host.topology
"$example" net.graph host.topology >placed
[ "$(grep -c -- '->' placed)" = 314 ] || fail "the README's C++ code did not place all nodes"
