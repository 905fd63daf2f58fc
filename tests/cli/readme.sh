#!/usr/bin/env bash
# What the top README shows works, and prints what it says:
#   readme.sh PLACETO README_EXAMPLE SOURCE_FOLDER WORK_FOLDER
# README_EXAMPLE: the C++ code of tools/examples/README.md.
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

# The indented lines of a file, below a heading or all of them, without their indentation; code of
# other languages is fenced.
block() {
  awk -v heading="## $2" 'BEGIN { on = heading == "## " }
    /^## / && heading != "## " { on = $0 == heading }
    /^```/ { fenced = !fenced }
    on && !fenced && sub(/^    /, "")' "$root/$1"
}

# What the README takes from elsewhere: minutes of training, for which the policy that ships stands.
mkdir own
cp "$root/models/default.plpo" own/best.plpo

# Every command line of `placeto`, in their order. Those of placeto-train take minutes.
for file in README.md models/engines/README.md; do
  block "$file" "" | grep -E '^(mkdir .* && )?placeto ' >commands || fail "no commands in $file"
  set -x
  . ./commands >output
  set +x
done
[ "$(block README.md "" | grep -c '^placeto ')" -ge 15 ] || fail "few commands found in README.md"
for file in host.json placement.json stages/manifest.json report.html trace.json net.json \
  nets/example.graph; do
  [ -s "$file" ] || fail "the commands made no $file"
done

# What their lines name in the checkout is there; so is every command that a README speaks of, if
# this build has the libraries for it.
(cd "$root" && find . -name build -prune -o -name node_modules -prune -o -name README.md -print) >readmes
while read -r file; do
  block "$file" "" | { grep -E '^(cc|cmake|mkdir|placeto|placeto-train|tools/|venv/)' || true; } |
    { grep -oE '(^| )(tools|models|trainer|runtime|cmake)/[^ )]+' || true; } | while read -r path; do
    [ -e "$root/$path" ] || fail "$file: there is no $path"
  done
  { grep -oE '`placeto (help )?[a-z]+' "$root/$file" || true; } | sed 's/.* //' | sort -u |
    while read -r command; do
      case $command in help | keygen | sign | verify) continue ;; esac
      placeto help "$command" >/dev/null || fail "$file: there is no command $command"
    done
done <readmes

# What tools/quickstart.sh prints, but for the time it took.
placeto place models/example.onnx --dim batch=1 -t edge-cpu-gpu-npu --budget 2k >first
without_time() { sed -n '/^example (/,$p' "$1" | sed 's/, took .*//; s/ *$//; /^$/d'; }
block README.md "Your model, your machine" | sed '/^proved/q' >shown
without_time shown | grep -q 'placed by' || fail "no table in the README"
diff <(without_time shown) <(without_time first) || fail "the README shows another table"

placeto convert models/topologies/cpu+gpu.json host.topology
"$example" net.graph host.topology >placed
[ "$(grep -c -- '->' placed)" = 314 ] || fail "the README's C++ code did not place all nodes"
"$example" net.json host.topology >placed 2>said && fail "the README's C++ code read JSON"
grep -q '^net.json: ' said || fail "the README's C++ code does not say what it cannot read"
