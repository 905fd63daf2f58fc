#include "tools/cli/topologies.h"

#include <filesystem>

#include "tools/cli/common.h"
#include "tools/cli/files.h"
#include "tools/cli/graph_input.h"
#include "tools/io/read.h"
#include "tools/io/shipped.h"
#include "tools/machine/machine.h"

namespace placeto::cli {
namespace {

const shipped::File* find(const std::string& name) {
  return shipped::find(shipped::topologies(), name);
}

bool is_file(const std::string& path) {
  std::error_code error;
  return path == "-" || std::filesystem::exists(path, error);
}

}  // namespace

Option& add_topology(Command& command, std::string& target) {
  return command
      .option("-t,--topology", "TOPOLOGY", target, "Topology file, or name of a built-in topology")
      .proposes(shipped::topology_names());
}

std::string close_topology(const std::string& path) {
  if (is_file(path) || path.find('/') != std::string::npos) return "";
  constexpr std::string_view kEnding = ".json";  // of the file that a built-in one comes from
  const std::string name =
      path.ends_with(kEnding) ? path.substr(0, path.size() - kEnding.size()) : path;
  if (find(name) != nullptr) return ", did you mean '" + name + "'?";
  return suggestion(name, shipped::topology_names());
}

Topology load_topology(const std::string& path) {
  if (is_file(path)) {
    note_input(path);
    Topology topology = require(read_topology(path));
    const std::string mixed = mixed_sources(topology.spec());
    if (!mixed.empty()) {
      note(as_given(path + ": numbers of unlike sources are compared: " + mixed));
    }
    return topology;
  }
  if (const shipped::File* file = find(path)) {
    return require(parse_topology({file->bytes.begin(), file->bytes.end()}, path));
  }
  const std::string close = close_topology(path);
  if (close.empty() && path.find_first_of("/.") != std::string::npos) {
    return require(read_topology(path));
  }
  std::string names;
  for (const std::string& name : shipped::topology_names())
    names += (names.empty() ? "" : ", ") + name;
  throw Failure(kBadInputFile, path + ": no such file, and no built-in topology" +
                                   (close.empty() ? "; there are " + names : close));
}

}  // namespace placeto::cli
