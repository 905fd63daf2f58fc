// A directory that appears whole or not at all.
#pragma once

#include <string>

#include "runtime/base/result.h"
#include "tools/io/scratch.h"

namespace placeto {

// Files are written into a directory beside the final one, which takes its name in the end, and the
// permissions, owner and group of an empty one that was there. Without commit() it is removed, with
// everything in it.
class NewDirectory {
 public:
  // Fails with kInvalidArgument when `path` exists, unless it is an empty directory or leads to
  // one, and not the current one, and with kIo when its parent is not a directory that can be
  // written. Removes what earlier programs that were killed left beside it.
  static Result<NewDirectory> create(const std::string& path);

  // Where to write the file of that name until commit().
  std::string file(const std::string& name) const { return staging_.root() + "/" + name; }
  // A status that may tell of such a file, with the path that the file has after commit().
  Status told(const Status& status) const;
  Status commit();

 private:
  NewDirectory(std::string path, Scratch staging)
      : path_(std::move(path)), staging_(std::move(staging)) {}

  std::string path_;
  Scratch staging_;
};

}  // namespace placeto
