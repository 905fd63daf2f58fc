#!/usr/bin/env bash
# Everything that must hold: installs what is missing, checks the formatting, builds everything,
# runs every test, then all tests but the trainer's (LibTorch is not built for it) again under
# AddressSanitizer and UndefinedBehaviorSanitizer. Last, what optimised, checked and smallest builds
# compute must be the same.
#
# Works as root or with sudo, on a machine that has nothing but apt-get. Safe to run again. Every
# step is run even if one before it failed; the exit status is 0 if all passed.
set -euo pipefail
cd "$(dirname "$0")/.."
. tools/packages.sh

jobs=$(nproc)
summary=()
failed=0

# step NAME COMMAND...: runs the command and notes how it went.
step() {
  local name=$1 began=$SECONDS verdict=ok
  shift
  say "$name"
  "$@" </dev/null || case $? in
    77) verdict=- ;; # as for CTest: not done, and it says why
    *) verdict=FAILED failed=1 ;;
  esac
  summary+=("$(printf '%-6s %4d s  %s' "$verdict" $((SECONDS - began)) "$name")")
}

check_format() {
  if ! clang-format --version 2>/dev/null | grep -q ' 14\.'; then
    echo "Not checked: needs clang-format 14; others lay out a few lines differently."
    return 77
  fi
  find runtime tools tests trainer -regex '.*\.\(cpp\|h\|hpp\|inc\)' -print0 |
    xargs -0 clang-format --dry-run -Werror
}

build() {
  cmake --preset "$1" -DPLACETO_BUILD_TESTS=ON "${@:2}" && cmake --build --preset "$1" -j "$jobs"
}

run_tests() {
  ctest --preset "$1" -j "$jobs" --no-tests=error
}

# The runtime alone, as small as it gets (the build that tests/cross/check.cmake makes, too).
build_smallest() {
  cmake -S tests/cross -B build/cross/minsize -DCMAKE_BUILD_TYPE=MinSizeRel \
    -DPLACETO_EXCEPTIONS=OFF && cmake --build build/cross/minsize -j "$jobs" --target digest placeto \
    placeto_size_example
}

# The smallest build stays small, and three builds decide and compute the same.
compare_builds() {
  ctest --test-dir build/cross/minsize -R "^size_" --no-tests=error --output-on-failure || return
  build/release/bin/digest >build/digest || return
  local other
  for other in build/cross/minsize build/asan; do
    "$other/bin/digest" | diff build/digest - || { echo "$other computes something else"; return 1; }
  done
  echo "The same answers from three builds."
}

say "Installing what is missing"
install_packages "${placeto_packages[@]}" "${placeto_trainer_packages[@]}" \
  "${placeto_test_packages[@]}"

step "Check the formatting" check_format
# Only the release build runs models: the engine's own code is not built to be checked.
step "Fetch the inference engine" tools/engine/fetch.sh build/onnxruntime
step "Build (release)" build release -DPLACETO_BUILD_BENCHMARKS=ON -DPLACETO_BUILD_TRAINER=ON \
  -DONNXRUNTIME_ROOT="$PWD/build/onnxruntime"
step "Test (release)" run_tests release
step "Build (ASan and UBSan)" build asan
step "Test (ASan and UBSan)" run_tests asan
step "Build (smallest)" build_smallest
step "Compare the builds" compare_builds

say "Summary"
printf '%s\n' "${summary[@]}"
exit "$failed"
