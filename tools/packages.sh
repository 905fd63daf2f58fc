# Sourced by quickstart.sh and test.sh: installing packages of the distribution.

say() { printf '\n== %s\n' "$*"; }

# What libraries, tools and their build need.
placeto_packages=(
  flatbuffers-compiler libflatbuffers-dev # file formats
  libdnnl-dev                             # oneDNN: dense layers of policies
  libfmt-dev nlohmann-json3-dev           # text and JSON
  libscotch-dev libmetis-dev              # graph partitioners, as baselines
  libsodium-dev                           # signatures of policies
  libonnx-dev libprotobuf-dev             # ONNX models, in and out
)
# What the trainer needs beside them; nothing else does.
placeto_trainer_packages=(
  libtorch-dev libopenblas-dev     # networks and gradients, at a bearable speed
  libgloo-dev                      # several hosts
  libtomlplusplus-dev              # configurations
)
placeto_test_packages=(
  doctest-dev      # tests
  libbenchmark-dev # benchmarks
  libonnx-testdata # models to import
  pkg-config       # the installed package's .pc file
  dpkg-dev file    # Debian packages
  python3-pip python3-setuptools python3-wheel python3-numpy # the Python package
  clang-format     # formatting check
  chromium         # opens report pages
)

# Programs that may also be there by other ways than a package.
command -v node >/dev/null || placeto_test_packages+=(nodejs)
command -v npm >/dev/null || placeto_test_packages+=(npm) # the inference engine of tests/engine

as_root() {
  if [ "$(id -u)" = 0 ]; then
    env DEBIAN_FRONTEND=noninteractive "$@"
  elif command -v sudo >/dev/null; then
    sudo env DEBIAN_FRONTEND=noninteractive "$@"
  else
    echo "Needs root to run: $*. Run it as root, or install sudo." >&2
    exit 1
  fi
}

# Installs those of the packages that are missing, and a compiler, CMake and make if the machine has
# none.
install_packages() {
  if ! command -v apt-get >/dev/null; then
    echo "No apt-get here: install the counterparts of these packages yourself: $*" >&2
    return
  fi
  local package missing=()
  command -v c++ >/dev/null || missing+=(g++)
  command -v cmake >/dev/null || missing+=(cmake)
  command -v make >/dev/null || missing+=(make)
  for package in "$@"; do
    case "$(dpkg-query -W -f='${Status}' "$package" 2>/dev/null)" in
      *"ok installed") ;;
      *) missing+=("$package") ;;
    esac
  done
  if [ "${#missing[@]}" = 0 ]; then
    echo "All packages are there."
    return
  fi
  echo "Installing with apt-get: ${missing[*]}"
  as_root apt-get update -qq </dev/null
  as_root apt-get install -qq -y --no-install-recommends \
    -o Acquire::Retries=3 -o Dpkg::Use-Pty=0 "${missing[@]}" </dev/null >/dev/null
}
