#!/usr/bin/env bash
# Debian packages of this checkout, in build/package, and with --image a container image that has
# them installed, named placeto:
#
#   tools/make_packages.sh [--image]
#
# Installs what is missing, as tools/quickstart.sh does. The image is made by podman or docker, whichever
# is there, from cmake/packaging/Containerfile.
set -euo pipefail
cd "$(dirname "$0")/.."
. tools/packages.sh

case "$*" in
  '' | --image) ;;
  *)
    echo "Usage: tools/make_packages.sh [--image], not '$*'" >&2
    exit 2
    ;;
esac
if [ "${1:-}" = --image ]; then
  for engine in podman docker; do
    command -v "$engine" >/dev/null || continue
    exec "$engine" build --tag placeto --file cmake/packaging/Containerfile .
  done
  echo "Neither podman nor docker is here: the image needs one of them." >&2
  exit 1
fi

say "Installing what is missing"
install_packages "${placeto_packages[@]}" dpkg-dev file

say "Fetching the headers of ONNX Runtime"
tools/engine/fetch.sh --headers build/onnxruntime-headers ||
  echo "Without them: what runs models will say that it cannot." >&2

say "Building into build/package"
cmake --preset package -DONNXRUNTIME_ROOT="$PWD/build/onnxruntime-headers" >/dev/null
cmake --build --preset package -j "$(nproc)"
rm -f build/package/*.deb
(cd build/package && cpack -G DEB >/dev/null)

say "Done"
ls -l build/package/*.deb
