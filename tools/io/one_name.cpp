#include "tools/io/one_name.h"

#include <filesystem>
#include <system_error>

#include "runtime/format/file.h"

namespace placeto {

std::string one_name(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path file = fs::weakly_canonical(fs::absolute(without_links(path), error), error);
  return file.empty() ? path : file.string();
}

}  // namespace placeto
