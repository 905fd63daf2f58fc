#include "trainer/data/inventory.h"

#include <filesystem>
#include <map>
#include <set>
#include <span>
#include <sstream>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "runtime/base/sha256.h"
#include "runtime/format/graph_file.h"
#include "runtime/format/topology_file.h"

namespace placeto::train {
namespace {

// "held out 1f...: a.graph".
std::string line_on(std::string_view part, std::span<const uint8_t> bytes,
                    const std::string& name) {
  return fmt::format("{} {:02x}: {}\n", part, fmt::join(sha256(bytes), ""), name);
}

std::set<std::string> lines_of(const std::string& text) {
  std::istringstream lines(text);
  std::set<std::string> all;
  for (std::string line; std::getline(lines, line);) all.insert(line);
  return all;
}

// The file that a line is about, whatever part it plays: "graph 1f...: a.graph".
std::string file_in(const std::string& line) {
  for (const std::string_view part : {"learned from ", "held out "}) {
    if (line.starts_with(part)) return "graph " + line.substr(part.size());
  }
  return line;
}

// "graph a.graph".
std::string name_in(const std::string& file) {
  return file.substr(0, file.find(' ') + 1) + file.substr(file.find(": ") + 2);
}

std::set<std::string> files_in(const std::string& inventory) {
  std::set<std::string> files;
  for (const std::string& line : lines_of(inventory)) files.insert(file_in(line));
  return files;
}

}  // namespace

std::string inventory_of(const OwnSplit& own) {
  std::string lines;
  const auto add = [&](const char* part, const OwnProblems& problems) {
    for (const OwnProblems::File& file : problems.graphs) {
      const std::filesystem::path path = file.path;
      lines += line_on(part, *encode_graph(file.graph), path.filename().string());
    }
  };
  add("learned from", own.train);
  add("held out", own.held_out);
  for (const TopologySpec& topology : own.train.topologies) {
    lines += line_on("topology", *encode_topology(topology), topology.name);
  }
  return lines;
}

bool same_inventory(const std::string& before, const std::string& now) {
  return lines_of(before) == lines_of(now);
}

std::string inventory_difference(const std::string& before, const std::string& now) {
  const std::set<std::string> were = files_in(before), are = files_in(now);
  std::map<std::string, std::pair<bool, bool>> by_name;  // was there in another form, is there
  for (const std::string& file : were) {
    if (!are.contains(file)) by_name[name_in(file)].first = true;
  }
  for (const std::string& file : are) {
    if (!were.contains(file)) by_name[name_in(file)].second = true;
  }
  if (by_name.empty()) return "others of the same graphs are held out, as files are sorted by path";
  constexpr size_t kMostNamed = 4;
  std::string text;
  size_t named = 0;
  for (const auto& [name, there] : by_name) {
    if (++named > kMostNamed) break;
    text += (named == 1 ? "" : ", ") + name;
    text += there.first && there.second ? " has changed" : there.first ? " is gone" : " is new";
  }
  if (named <= kMostNamed) return text;
  return text + fmt::format(" and {} more", by_name.size() - kMostNamed);
}

}  // namespace placeto::train
