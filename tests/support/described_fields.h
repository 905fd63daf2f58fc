// The fields of what is printed as JSON, against the READMEs that describe them.
#pragma once

#include <doctest/doctest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace placeto::test {

// A field: where it is ("" in the object that is printed, else in the field of that name), and its
// name.
using Field = std::pair<std::string, std::string>;
inline constexpr const char* kAnywhere = "*";

// What a section of a README says of fields.
struct DescribedFields {
  std::set<Field> fields;
  std::set<Field> by_name;  // objects whose keys are names of something: data, and no fields

  void add(const std::string& where, const std::string& name, bool is_by_name) {
    fields.insert({where, name});
    if (is_by_name) by_name.insert({where, name});
  }
};

inline std::vector<std::string> in_backticks(const std::string& text) {
  std::vector<std::string> names;
  for (size_t begin = 0; (begin = text.find('`', begin)) != std::string::npos;) {
    const size_t end = text.find('`', begin + 1);
    if (end == std::string::npos) break;
    if (end > begin + 1) names.push_back(text.substr(begin + 1, end - begin - 1));
    begin = end + 1;
  }
  return names;
}

// The lines below a heading, of any level, down to the next one.
inline std::vector<std::string> lines_below(const std::string& readme, const std::string& heading) {
  std::ifstream file(std::string(PLACETO_SOURCE_DIR "/") + readme);
  std::vector<std::string> lines;
  bool inside = false, found = false;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('#')) {
      inside = line.substr(line.find(' ') + 1) == heading;
      found = found || inside;
    } else if (inside) {
      lines.push_back(line);
    }
  }
  REQUIRE_MESSAGE(found, readme << " has no heading " << heading);
  return lines;
}

// A row's first cell, "`a`, `b`", or "in `x`, `y`: `a`, `b`", or of fields that may be anywhere "in
// words: `a`"; its second one begins with "object by" where keys are data.
inline void add_row(const std::string& row, DescribedFields& described) {
  const size_t second = row.find('|', 1) + 1;
  const std::string first = row.substr(1, second - 1);
  const bool is_by_name = row.substr(second).starts_with(" object by ");
  std::vector<std::string> places{""};
  std::string names = first;
  if (const size_t colon = first.find(": `"); first.starts_with(" in ")) {
    REQUIRE_MESSAGE(colon != std::string::npos, row << " has no colon before the names");
    places = in_backticks(first.substr(0, colon));
    if (places.empty()) places = {kAnywhere};
    names = first.substr(colon);
  }
  for (const std::string& name : in_backticks(names)) {
    for (const std::string& where : places) described.add(where, name, is_by_name);
  }
}

// The rows of tools/cli/README.md below some of its headings.
inline DescribedFields described_below(const std::vector<std::string>& headings) {
  DescribedFields described;
  for (const std::string& heading : headings) {
    for (const std::string& line : lines_below("tools/cli/README.md", heading)) {
      if (line.starts_with("| ")) add_row(line, described);
    }
  }
  return described;
}

// Whatever is in backticks below a heading of schema/README.md, which describes some in its prose.
inline DescribedFields described_in_schema(const std::string& heading) {
  DescribedFields described;
  for (const std::string& line : lines_below("schema/README.md", heading)) {
    for (const std::string& name : in_backticks(line)) described.add(kAnywhere, name, false);
  }
  return described;
}

// Every field in the value, which is that of a field of the name `where`, is described. Names that
// are data are no fields.
inline void check_described(const nlohmann::json& value, const DescribedFields& described,
                            const std::string& where = "", bool is_by_name = false) {
  if (value.is_array()) {
    for (const nlohmann::json& entry : value) check_described(entry, described, where);
  }
  if (!value.is_object()) return;
  for (const auto& [key, inner] : value.items()) {
    if (is_by_name) {
      check_described(inner, described, where);
      continue;
    }
    const bool is_described =
        described.fields.contains({where, key}) || described.fields.contains({kAnywhere, key});
    CHECK_MESSAGE(is_described, "'" << key << "' in '" << where << "' is not described");
    check_described(inner, described, key, described.by_name.contains({where, key}));
  }
}

}  // namespace placeto::test
