// What `inspect` says of a file, line by line.
#pragma once

#include <string>

#include "tools/report/table.h"

namespace placeto::cli {

// Two columns: what, and how much.
class Sheet {
 public:
  void add(const std::string& what, const std::string& value) { table_.add_row({what, value}); }
  std::string render() const { return table_.render(); }

 private:
  Table table_{{{"", Align::kLeft}, {"", Align::kLeft, true}}};
};

}  // namespace placeto::cli
