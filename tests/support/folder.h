// A folder of a test's own, which goes away with everything in it.
#pragma once

#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace placeto::test {

inline std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class Folder {
 public:
  Folder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "placeto-XXXXXX").string();
    REQUIRE(mkdtemp(pattern.data()) != nullptr);
    root_ = pattern;
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(root_, ignored);
  }

  std::string root() const { return root_.string(); }
  std::string path(const std::string& name) const { return (root_ / name).string(); }
  // Makes the folders on the way.
  void write(const std::string& name, const std::string& bytes) const {
    std::filesystem::create_directories((root_ / name).parent_path());
    std::ofstream(root_ / name, std::ios::binary) << bytes;
  }
  std::string read(const std::string& name) const { return bytes_of(path(name)); }
  size_t size() const {
    return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(root_), {}));
  }

 private:
  std::filesystem::path root_;
};

}  // namespace placeto::test
