// A folder for what a command makes on its way, which goes away with everything in it.
#pragma once

#include <string>

#include "runtime/base/result.h"

namespace placeto {

class Scratch {
 public:
  // Its name is `path` and random letters; root() is "" where none could be made.
  explicit Scratch(const std::string& path);
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch();

  const std::string& root() const { return root_; }
  Status write(const std::string& name, const std::string& bytes) const;

 private:
  std::string root_;
};

}  // namespace placeto
