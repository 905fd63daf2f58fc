#!/usr/bin/env bash
# Opens report pages in headless Chromium, where drive.js operates them and says what it found:
#   run.sh PLACETO WORK_FOLDER
# Exit status: 0 all is well, 1 something is not, 77 there is no Chromium here (CTest: skipped).
set -euo pipefail
placeto=$1 work=$2
here=$(cd "$(dirname "$0")" && pwd)

browser=
for name in chromium chromium-browser google-chrome; do
  if command -v "$name" >/dev/null; then browser=$name && break; fi
done
if [ -z "$browser" ]; then
  echo "no Chromium here: the report page was not opened (Debian: chromium)"
  exit 77
fi

rm -rf "$work"
mkdir -p "$work"
cd "$work"
failed=0

# page NAME EXPECTED: injects drive.js into NAME.html and runs it.
page() {
  local name=$1 expected=$2
  # No frames are drawn in virtual time: animation frames become timers before anything runs.
  awk -v expected="$expected" -v drive="$here/drive.js" '
    /^<\/body>/ {
      print "<script>window.expected = " expected ";"
      while ((getline line < drive) > 0) print line
      print "</script>"
    }
    { print }
    /^<body>/ {
      print "<script>window.requestAnimationFrame = f => setTimeout(() => f(performance.now()), 0);"
      print "</script>"
    }' "$name.html" >"$name.driven.html"
  timeout 150 "$browser" --headless --no-sandbox --disable-gpu --disable-dev-shm-usage \
    --disable-extensions --no-first-run --user-data-dir="$work/profile" --window-size=1280,900 \
    --virtual-time-budget=20000 --dump-dom "file://$work/$name.driven.html" \
    >"$name.dom" 2>"$name.log" || true
  local verdict
  verdict=$(sed -n 's|.*<pre id="verdict">\([^<]*\)</pre>.*|\1|p' "$name.dom" | tail -1)
  echo "$name ($(wc -c <"$name.html") bytes): ${verdict:-no verdict: the page did not get that far}"
  case $verdict in 'passed '*) ;; *) failed=1 ;; esac
}

machine='{"format_version": 1, "name": "four", "op_gap_us": 1, "devices": [
  {"name": "gpu:0", "kind": "gpu"}, {"name": "gpu:1", "kind": "gpu"},
  {"name": "gpu:2", "kind": "gpu"}, {"name": "gpu:3", "kind": "gpu", "memory_bytes": 90000000}],
  "default_link": {"bandwidth_bytes_per_us": 7600, "gap_us": 2}}'
echo "$machine" >four.json

"$placeto" generate layered --nodes 50 --seed 3 -o small.json >/dev/null
"$placeto" place small.json -t four.json --method heft -o heft.json >/dev/null
"$placeto" place small.json -t four.json --policy none -o auto.json >/dev/null
"$placeto" report auto.json -g small.json -t four.json --candidates --policy none -o one.html
page one '{"nodes": 50, "placements": 1, "candidates": true}'
"$placeto" report heft.json auto.json -g small.json -t four.json -o two.html
page two '{"nodes": 50, "placements": 2}'

echo "${machine/\"op_gap_us\"/\"execution\": \"staged\", \"op_gap_us\"}" >staged.json
"$placeto" place small.json -t staged.json --objective throughput --policy none \
  --report stream.html >/dev/null
page stream '{"nodes": 50, "placements": 1, "candidates": true, "stages": true, "throughput": true}'

"$placeto" generate layered --nodes 10000 --width 32 -o large.json >/dev/null
"$placeto" place large.json -t four.json --method etf -o large.placement.json >/dev/null
"$placeto" report large.placement.json -g large.json -t four.json --reasons 3 -o large.html
page large '{"nodes": 10000, "placements": 1, "groups": true}'

# Names that would be markup, end the script, or turn the direction of the text.
evil='</script><img src=x onerror=alert(1)><!--\u0022&{{data}}\u2028\u202e\n'
cat >evil.json <<EOF
{"format_version": 1, "name": "$evil", "nodes": [
  {"name": "$evil 1", "op": "$evil", "cost_us": [10], "outputs": [1000]},
  {"name": "$evil 2", "op": "__proto__", "cost_us": [20], "outputs": [1000]},
  {"name": "__proto__", "op": "constructor", "cost_us": [30]}],
 "edges": [{"source": 0, "target": 1}, {"source": 1, "target": 2}]}
EOF
echo "${machine//gpu:1/$evil}" >evil.topology.json
"$placeto" place evil.json -t evil.topology.json --policy none -o evil.placement.json >/dev/null
"$placeto" report evil.placement.json -g evil.json -t evil.topology.json \
  --label '<b>"label"</b>' -o evil.html >/dev/null
page evil '{"nodes": 3, "placements": 1}'
exit "$failed"
