// A folder for what a command makes on its way, which goes away with everything in it.
#pragma once

#include <string>
#include <system_error>

#include "runtime/base/result.h"

namespace placeto {

// Locked as long as it is used, and marked: whoever makes another of the same path removes it if
// this process was killed.
class Scratch {
 public:
  // Its name is `path`, '-' and six random letters; root() is "" where none could be made, and
  // errno says why.
  explicit Scratch(const std::string& path);
  Scratch(Scratch&& other) noexcept;
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch();

  const std::string& root() const { return root_; }
  Status write(const std::string& name, const std::string& bytes) const;

  // What is written into it from now on gets the group that it would get in the folder `path`.
  void inherit_group(const std::string& path) const;
  // It becomes `path`, and is no scratch any more. Where an empty folder is, which it replaces, it
  // has that one's permissions, and its owner and group as far as they can be given; else the
  // permissions of any new folder.
  std::error_code keep_as(const std::string& path);

 private:
  std::string root_;
  int lock_ = -1;
  int listed_ = -1;  // among what remove_all_scratch removes
};

// What this process has of these folders, removed: for those who end it without unwinding. Uses no
// `new`, as there may be no memory; what it cannot remove is left to whoever comes next.
void remove_all_scratch() noexcept;

}  // namespace placeto
