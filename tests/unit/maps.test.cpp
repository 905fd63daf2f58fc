// Maps: the tables of files and folders in READMEs, against what is there.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

const fs::path kRoot = PLACETO_SOURCE_DIR;

bool skipped(const std::string& name) {
  return name.starts_with('.') || name.starts_with("build") || name == "vendor";
}

std::vector<fs::path> readmes() {
  std::vector<fs::path> found;
  std::vector<fs::path> folders{kRoot};
  while (!folders.empty()) {
    const fs::path folder = folders.back();
    folders.pop_back();
    for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
      const std::string name = entry.path().filename();
      if (entry.is_directory() && !skipped(name)) folders.push_back(entry.path());
      if (name == "README.md") found.push_back(entry.path());
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

std::vector<std::string> names_in(const std::string& text) {
  static const std::regex quoted("`([^`]+)`");
  std::vector<std::string> names;
  for (std::sregex_iterator it(text.begin(), text.end(), quoted), end; it != end; ++it) {
    names.push_back((*it)[1]);
  }
  return names;
}

// `x` stands for x, x.h, x.cpp, ...
bool stands_for(const std::string& name, const std::string& file) {
  return file == name || file.starts_with(name + ".");
}

struct Map {
  bool of_files = false;          // else of folders
  std::vector<std::string> rows;  // first cells
};

std::vector<Map> maps_of(const fs::path& readme) {
  std::ifstream file(readme);
  std::vector<Map> maps;
  bool inside = false;
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with('|')) {
      inside = false;
      continue;
    }
    const std::string first = line.substr(1, line.find('|', 1) - 1);
    if (first == " file " || first == " folder ") {
      maps.push_back({first == " file ", {}});
      inside = true;
    } else if (inside) {
      maps.back().rows.push_back(first);
    }
  }
  return maps;
}

// The row that a path of the runtime belongs to, longest name first; -1: none.
int row_of(const Map& map, const std::string& path) {
  int row = -1;
  size_t longest = 0;
  for (size_t r = 0; r < map.rows.size(); ++r) {
    for (const std::string& name : names_in(map.rows[r])) {
      if (!path.starts_with(name + "/") || name.size() < longest) continue;
      longest = name.size();
      row = static_cast<int>(r);
    }
  }
  return row;
}

struct Include {
  std::string by, used;  // paths from the root
};

// What the sources below a folder include of the project.
std::vector<Include> includes_below(const std::string& folder) {
  static const std::regex include("#include \"([^\"]+)\"");
  std::vector<Include> found;
  for (const auto& entry : fs::recursive_directory_iterator(kRoot / folder)) {
    const std::string path = fs::relative(entry.path(), kRoot);
    if (!path.ends_with(".h") && !path.ends_with(".cpp")) continue;
    std::ifstream file(entry.path());
    for (std::string line; std::getline(file, line);) {
      std::smatch match;
      if (std::regex_search(line, match, include)) found.push_back({path, match[1]});
    }
  }
  return found;
}

bool lies_in(const std::string& path, const std::vector<std::string>& folders) {
  return std::any_of(folders.begin(), folders.end(),
                     [&](const std::string& folder) { return path.starts_with(folder + "/"); });
}

// A row whose first cell is bold begins a part of the map: the files of that folder follow.
bool begins_part(const std::string& row) {
  return row.starts_with(" **`");
}

bool exists(const fs::path& folder, const std::string& name) {
  const fs::path path = folder / name;
  if (fs::exists(path)) return true;
  if (!fs::is_directory(path.parent_path())) return false;
  for (const fs::directory_entry& entry : fs::directory_iterator(path.parent_path())) {
    if (stands_for(path.filename(), entry.path().filename())) return true;
  }
  return false;
}

bool is_source(const fs::path& path) {
  static const std::set<std::string> kKinds{".cpp", ".h", ".inc", ".mjs", ".js", ".sh", ".fbs"};
  return kKinds.contains(path.extension());
}

}  // namespace

TEST_CASE("whatever a README's map names is there") {
  for (const fs::path& readme : readmes()) {
    CAPTURE(readme.string());
    for (const Map& map : maps_of(readme)) {
      fs::path folder = readme.parent_path();
      for (const std::string& row : map.rows) {
        for (const std::string& name : names_in(row)) {
          CAPTURE(name);
          if (begins_part(row)) folder = readme.parent_path() / name;
          CHECK((begins_part(row) ? fs::is_directory(folder) : exists(folder, name)));
        }
      }
    }
  }
}

TEST_CASE("where a README has a map of files, it names every source in the folder") {
  for (const fs::path& readme : readmes()) {
    std::ifstream stream(readme);
    std::stringstream text;
    text << stream.rdbuf();
    const std::vector<std::string> named = names_in(text.str());
    for (const Map& map : maps_of(readme)) {
      if (!map.of_files) continue;
      std::vector<fs::path> folders{readme.parent_path()};
      for (const std::string& row : map.rows) {
        if (begins_part(row)) folders.push_back(readme.parent_path() / names_in(row)[0]);
      }
      for (const fs::path& folder : folders) {
        for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
          if (!entry.is_regular_file() || !is_source(entry.path())) continue;
          CAPTURE(entry.path().string());
          const std::string file = entry.path().filename();
          CHECK(std::any_of(named.begin(), named.end(),
                            [&](const std::string& name) { return stands_for(name, file); }));
        }
      }
    }
  }
}

TEST_CASE("every folder of the runtime is on its map") {
  std::set<std::string> named;
  for (const Map& map : maps_of(kRoot / "runtime/README.md")) {
    for (const std::string& row : map.rows) {
      for (const std::string& name : names_in(row)) named.insert(name.substr(0, name.find('/')));
    }
  }
  for (const fs::directory_entry& entry : fs::directory_iterator(kRoot / "runtime")) {
    if (!entry.is_directory()) continue;
    CAPTURE(entry.path().string());
    CHECK(named.contains(entry.path().filename()));
  }
}

TEST_CASE("each folder of the runtime uses those above it in the map, and no others") {
  const Map map = maps_of(kRoot / "runtime/README.md").at(0);
  const std::string runtime = "runtime/";
  int checked = 0;
  for (const Include& include : includes_below("runtime")) {
    if (include.by == "runtime/policy/guide.cpp") continue;  // the README says so
    if (!include.used.starts_with(runtime)) continue;
    const int own = row_of(map, include.by.substr(runtime.size()));
    CHECK_MESSAGE(own >= 0, include.by);
    CHECK_MESSAGE(row_of(map, include.used.substr(runtime.size())) <= own, include.by, " includes ",
                  include.used);
    ++checked;
  }
  CHECK(checked > 300);
}

TEST_CASE("each folder of the trainer uses those above it in the map, and no others") {
  std::vector<std::string> folders;  // in the order of the map
  for (const Map& map : maps_of(kRoot / "trainer/README.md")) {
    for (const std::string& row : map.rows) {
      if (begins_part(row)) folders.push_back("trainer/" + names_in(row)[0]);
    }
  }
  const auto place_of = [&](const std::string& path) {
    return std::find_if(folders.begin(), folders.end(),
                        [&](const std::string& folder) { return path.starts_with(folder); });
  };
  int checked = 0;
  for (const Include& include : includes_below("trainer")) {
    if (include.by == "trainer/main.cpp" || !include.used.starts_with("trainer/")) continue;
    const auto own = place_of(include.by);
    CHECK_MESSAGE(own != folders.end(), include.by);
    CHECK_MESSAGE(place_of(include.used) <= own, include.by, " includes ", include.used);
    // One architecture needs nothing of the other.
    const bool both =
        lies_in(include.by, {"trainer/published"}) && lies_in(include.used, {"trainer/pairwise"});
    CHECK_MESSAGE(!both, include.by, " includes ", include.used);
    ++checked;
  }
  CHECK(checked > 200);
}

TEST_CASE("schema, runtime, tools and trainer use those before them, and no others") {
  for (const Include& include : includes_below("runtime")) {
    CHECK_MESSAGE(!lies_in(include.used, {"tools", "trainer", "tests"}), include.by, " includes ",
                  include.used);
  }
  for (const Include& include : includes_below("tools")) {
    CHECK_MESSAGE(!lies_in(include.used, {"trainer", "tests"}), include.by, " includes ",
                  include.used);
  }
  const std::vector<std::string> for_trainer{"runtime",         "trainer",      "tools/io",
                                             "tools/machine",   "tools/onnx",   "tools/options",
                                             "tools/partition", "tools/report", "tools/workloads"};
  for (const Include& include : includes_below("trainer")) {
    CHECK_MESSAGE(lies_in(include.used, for_trainer), include.by, " includes ", include.used);
  }
}
