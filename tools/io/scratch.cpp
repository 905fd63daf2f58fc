#include "tools/io/scratch.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "runtime/format/file.h"

namespace placeto {

Scratch::Scratch(const std::string& path) {
  std::string pattern = path + "-XXXXXX";
  if (mkdtemp(pattern.data()) != nullptr) root_ = pattern;
}

Scratch::~Scratch() {
  std::error_code ignored;
  if (!root_.empty()) std::filesystem::remove_all(root_, ignored);
}

Status Scratch::write(const std::string& name, const std::string& bytes) const {
  if (root_.empty()) return Status::io("no temporary folder can be made");
  return write_file_atomically(root_ + "/" + name, bytes);
}

}  // namespace placeto
