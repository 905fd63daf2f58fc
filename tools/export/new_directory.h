// A directory that appears whole or not at all.
#pragma once

#include <string>

#include "runtime/base/result.h"

namespace placeto {

// Files are written into a directory beside the final one, which takes its name in the end. Without
// commit() it is removed, with everything in it.
class NewDirectory {
 public:
  // Fails with kInvalidArgument when `path` exists, unless it is an empty directory or leads to
  // one, and with kIo when its parent is not a directory that can be written. Removes what earlier
  // programs that were killed left beside it.
  static Result<NewDirectory> create(const std::string& path);
  NewDirectory(NewDirectory&& other) noexcept;
  NewDirectory(const NewDirectory&) = delete;
  NewDirectory& operator=(const NewDirectory&) = delete;
  ~NewDirectory();

  // Where to write the file of that name until commit().
  std::string file(const std::string& name) const { return staging_ + "/" + name; }
  Status commit();

 private:
  NewDirectory(std::string path, std::string staging, int lock)
      : path_(std::move(path)), staging_(std::move(staging)), lock_(lock) {}

  std::string path_;
  std::string staging_;  // "": nothing to remove
  int lock_ = -1;        // the staging directory, locked as long as somebody writes there
};

}  // namespace placeto
