// What is where a regular file is expected.
#pragma once

#include <sys/stat.h>

#include <string>

namespace placeto {

// "is a directory, expected a regular file": of the mode of something that is none.
inline std::string not_regular(mode_t mode) {
  const char* type = "a device";
  if (S_ISDIR(mode)) type = "a directory";
  if (S_ISFIFO(mode)) type = "a pipe";
  if (S_ISSOCK(mode)) type = "a socket";
  return std::string("is ") + type + ", expected a regular file";
}

}  // namespace placeto
