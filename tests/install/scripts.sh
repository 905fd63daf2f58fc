#!/usr/bin/env bash
# What the scripts in tools make of their arguments, with stand-ins for all that they call:
#   scripts.sh SOURCE_FOLDER WORK_FOLDER
set -euo pipefail
root=$1 work=$2
rm -rf "$work"
mkdir -p "$work/tools" "$work/bin" "$work/build/release/bin"
cp "$root"/tools/{quickstart,make_packages}.sh "$work/tools"
cat >"$work/tools/packages.sh" <<'END'
placeto_packages=(none)
say() { echo "== $*"; }
install_packages() { echo "installs $*" >>"$work/log"; }
END
for program in "$work"/{bin/cmake,build/release/bin/placeto}; do
  printf '#!/bin/sh\necho "${0##*/} $*" >>"$work/log"\n' >"$program"
  chmod +x "$program"
done
export work PATH=$work/bin:$PATH
cd "$work"
touch model.onnx host.json

fail() {
  echo "FAILED: $*"
  exit 1
}

# What is given reaches `placeto place` as it is, with no second of its kind, and the places are told.
runs() { # expected `placeto place ...`, expected lines of the places, arguments
  local expected=$1 places=$2
  shift 2
  rm -f log
  tools/quickstart.sh "$@" >output || fail "quickstart.sh $* failed"
  [ "$(grep '^placeto place' log)" = "placeto place $expected" ] ||
    fail "quickstart.sh $*: $(grep '^placeto place' log), expected placeto place $expected"
  [ "$(grep -E '^(Placement|Report):' output | sed 's/^[^ ]* *//; s/ (.*//' | tr '\n' ' ')" = "$places " ] ||
    fail "quickstart.sh $*: names other files than $places: $(cat output)"
}
out=$work/build/quickstart
p="--output $out/placement.json" r="--report $out/report.html"
both="$out/placement.json $out/report.html"
runs "$out/inception_v3.graph -t edge-cpu-gpu-npu --budget 2k $p $r" "$both"
runs "$out/inception_v3.graph --budget 2k $p $r -t host.json" "$both" -t host.json
runs "-t edge-cpu-gpu-npu --budget 2k $p $r model.onnx --dim batch=1" "$both" model.onnx --dim batch=1
runs "-t edge-cpu-gpu-npu --budget 2k $p $r --json -- model.onnx" "$both" --json -- model.onnx
for given in "-t 2xk80" -t2xk80 -t=2xk80 "--topology 2xk80" --topology=2xk80; do
  runs "--budget 2k $p $r $given model.onnx" "$both" $given model.onnx
done
for given in "--budget 5k" --budget=5k "--budget-evals 5k" --budget-ms=2s; do
  runs "-t edge-cpu-gpu-npu $p $r model.onnx $given" "$both" model.onnx $given
done
for given in "-o mine.json" -omine.json -o=mine.json "--output mine.json" --output=mine.json; do
  runs "-t edge-cpu-gpu-npu --budget 2k $r model.onnx $given" "$work/mine.json $out/report.html" \
    model.onnx $given
done
runs "-t edge-cpu-gpu-npu --budget 2k $p model.onnx --report /tmp/a.html" \
  "$out/placement.json /tmp/a.html" model.onnx --report /tmp/a.html
runs "-t edge-cpu-gpu-npu --budget 2k model.onnx -o - --report=a.html" \
  "standard output $work/a.html" model.onnx -o - --report=a.html

rm -f log
tools/quickstart.sh no_such.onnx 2>output && fail "quickstart.sh takes a file that is not there"
grep -q 'no_such.onnx: no such file' output || fail "quickstart.sh does not name the file"
tools/quickstart.sh --help | grep -q 'model.onnx -t host.json' || fail "quickstart.sh has no help"
for arguments in --imag "--image extra" x; do
  status=0
  tools/make_packages.sh $arguments 2>output || status=$?
  [ $status = 2 ] || fail "make_packages.sh $arguments: ended with $status"
  grep -q -- "$arguments" output || fail "make_packages.sh does not name '$arguments'"
done
[ ! -e log ] || fail "something was called before the arguments were read: $(cat log)"
