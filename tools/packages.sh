# Sourced by quickstart.sh and test.sh: installing packages of the distribution.

say() { printf '\n== %s\n' "$*"; }

# What libraries, tools and their build need. No LibTorch: only the trainer will want it.
placeto_packages=(
  flatbuffers-compiler libflatbuffers-dev # file formats
  libdnnl-dev                             # oneDNN: dense layers of policies
  libcli11-dev libfmt-dev                 # command line
  nlohmann-json3-dev                      # JSON
  libscotch-dev libmetis-dev              # graph partitioners, as baselines
  libsodium-dev                           # signatures of policies
  libonnx-dev libprotobuf-dev             # ONNX models, in and out
)
placeto_test_packages=(
  doctest-dev      # tests
  libbenchmark-dev # benchmarks
  pkg-config       # the installed package's .pc file
  clang-format     # formatting check
  chromium         # opens report pages
)

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
