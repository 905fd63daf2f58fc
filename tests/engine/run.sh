#!/bin/sh
# Runs the tests of this folder: run.sh PLACETO HAVE_ONNX SCRATCH
#
# PLACETO: the program under test. HAVE_ONNX: whether it was built with libonnx. SCRATCH: a folder
# for everything that is made, the engine and the models too. Ends with 77, "skipped", and a reason
# where something that the tests need is not there.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
placeto=$1 have_onnx=$2 scratch=$3

skip() {
  echo "SKIPPED: $*"
  exit 77
}

[ "$have_onnx" = 1 ] || skip "placeto was built without libonnx (Debian: libonnx-dev)"
command -v node >/dev/null || skip "no node here (Debian: nodejs)"
command -v npm >/dev/null || skip "no npm here (Debian: npm)"

# Installed anew when the lists change. Scripts of packages stay off: they would download more.
mkdir -p "$scratch/npm"
if ! cat "$here/package.json" "$here/package-lock.json" | cmp -s - "$scratch/npm/installed"; then
  npm ping >/dev/null 2>&1 || skip "no package registry can be reached"
  rm -f "$scratch/npm/installed"
  cp "$here/package.json" "$here/package-lock.json" "$scratch/npm"
  (cd "$scratch/npm" && npm ci --ignore-scripts --no-audit --no-fund)
  cat "$here/package.json" "$here/package-lock.json" >"$scratch/npm/installed"
fi

export ORT_DISABLE_TELEMETRY=1 # else each engine leaves a log in the folder for temporary files
export PLACETO="$placeto" ENGINE_MODULES="$scratch/npm/node_modules" ENGINE_SCRATCH="$scratch/work"
shift 3
[ "$#" -gt 0 ] || set -- --test "$here/split.test.mjs" "$here/options.test.mjs" \
  "$here/profile.test.mjs"
exec node "$@"
