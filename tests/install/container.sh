#!/usr/bin/env bash
# Follows cmake/packaging/Containerfile without a container engine: each FROM is a fresh root folder made
# by debootstrap, each RUN a command in it, and at the end the image's program places the example.
#
#   container.sh WORK [SUITE]        as root; SUITE: of Debian, bookworm if not given
#
# Not part of the suite: it installs a system, twice, and compiles everything.
set -euo pipefail
work=$(realpath -m "$1") suite=${2:-bookworm}
cd "$(dirname "$0")/../.."
[ "$(id -u)" = 0 ] || { echo "needs root: it makes root folders"; exit 77; }
command -v debootstrap >/dev/null || { echo "needs debootstrap"; exit 77; }
mkdir -p "$work"

# The mirror and the way to it are this machine's.
mirror=$(apt-get indextargets --format '$(SITE)' "Created-By: Packages" "Codename: $suite" | head -1)
root='' stage=0 entry=''
declare -A stages

leave() {
  for folder in "$work"/stage*; do
    for mount in proc dev; do umount -l "$folder/$mount" 2>/dev/null || true; done
  done
}
trap leave EXIT

new_root() {
  root=$work/stage$stage
  rm -rf "$root"
  debootstrap --variant=minbase "$suite" "$root" "$mirror" >"$work/debootstrap.log"
  rm -rf "$root/etc/apt"
  cp -a /etc/apt "$root/etc/apt"
  cp /etc/resolv.conf /etc/hosts "$root/etc/"
  mount -t proc proc "$root/proc"
  mount --rbind /dev "$root/dev"
}

while read -r instruction rest; do
  case $instruction in
    '' | '#'*) ;;
    FROM)
      stage=$((stage + 1))
      new_root
      [[ $rest == *" AS "* ]] && stages[${rest##* }]=$root
      ;;
    COPY)
      from=.
      if [[ $rest == --from=* ]]; then
        name=${rest%% *}
        from=${stages[${name#--from=}]}
        rest=${rest#* }
      fi
      source=${rest% *} target=$root${rest##* }
      mkdir -p "$target"
      if [ "$source" = . ]; then
        git ls-files -z | tar --null -T - -c | tar -x -C "$target"
      else
        cp $from$source "$target" # a pattern
      fi
      ;;
    RUN)
      echo "== $rest"
      chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root sh -c "$rest"
      ;;
    WORKDIR) mkdir -p "$root$rest" ;;
    ENTRYPOINT) entry=$(tr -d '[]",' <<<"$rest") ;;
    *) echo "container.sh does not know $instruction"; exit 1 ;;
  esac
done <cmake/packaging/Containerfile

cp models/example.onnx "$root/work/"
chroot "$root" sh -c "cd /work && $entry place example.onnx --dim batch=1 -t edge-cpu-gpu-npu -o p.json"
chroot "$root" sh -c "cd /work && $entry export p.json --model example.onnx --split stages"
[ -s "$root/work/stages/manifest.json" ] || { echo "no stages"; exit 1; }
echo "The image's program places and exports."
