// Names of types, across rooms: two types of one name in one namespace compile, as long as no
// source includes both, and then share what the linker takes for one function, such as a
// destructor.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <string>

namespace {

namespace fs = std::filesystem;

using Homes = std::map<std::string, std::set<std::string>>;  // type with namespace -> headers

void list_types(const fs::path& header, Homes& homes) {
  static const std::regex opens("^namespace ([\\w:]+) \\{.*");
  static const std::regex defines("^(?:struct|class|enum class) (\\w+)[^;]*\\{.*");
  std::ifstream file(header);
  std::string space;
  std::smatch match;
  for (std::string line; std::getline(file, line);) {
    if (std::regex_match(line, match, opens)) space = match[1];
    if (std::regex_match(line, match, defines)) {
      homes[space + "::" + std::string(match[1])].insert(header);
    }
  }
}

}  // namespace

TEST_CASE("no two headers define a type of the same name") {
  Homes homes;
  for (const char* room : {"runtime", "tools", "trainer"}) {
    for (const fs::directory_entry& entry :
         fs::recursive_directory_iterator(fs::path(PLACETO_SOURCE_DIR) / room)) {
      if (entry.path().extension() == ".h") list_types(entry.path(), homes);
    }
  }
  CHECK(homes.size() > 200);
  CHECK(homes.contains("placeto::Problem"));
  for (const auto& home : homes) {
    CAPTURE(home.first);
    CHECK(home.second.size() == 1);
  }
}
