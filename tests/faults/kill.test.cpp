// Kills a child process while it replaces a file, at ever later moments.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "runtime/format/file.h"
#include "tests/support/folder.h"
#include "tools/io/write.h"

namespace placeto {
namespace {

namespace fs = std::filesystem;
using test::Folder;

// Replaces the file for ever, by contents that are each one letter over and over.
[[noreturn]] void replace_for_ever(const std::string& path, size_t size) {
  for (char letter = 'b';; letter = letter == 'z' ? 'b' : static_cast<char>(letter + 1)) {
    if (!write_file_atomically(path, std::string_view(std::string(size, letter))).ok()) _exit(1);
  }
}

}  // namespace

TEST_CASE("a program that is killed while it writes leaves the old file or the new one, whole") {
  const Folder folder;
  const std::string path = folder.path("file");
  constexpr size_t kSize = 2'000'000;
  REQUIRE(write_file_atomically(path, std::string_view(std::string(kSize, 'a'))).ok());
  fs::permissions(path, fs::perms(0600));
  std::set<uint8_t> letters;
  bool left_something = false;
  for (useconds_t delay_us = 0; delay_us < 60'000; delay_us += 1'500) {
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) replace_for_ever(path, kSize);
    usleep(delay_us);
    REQUIRE(kill(child, SIGKILL) == 0);
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    REQUIRE(WIFSIGNALED(status));
    const auto bytes = read_file(path, 2 * kSize);
    REQUIRE(bytes.ok());
    REQUIRE(bytes->size() == kSize);
    CHECK(*bytes == std::vector<uint8_t>(kSize, bytes->front()));
    letters.insert(bytes->front());
    // What a killed writer leaves beside the file is in nobody's way.
    for (const auto& entry : fs::directory_iterator(folder.root())) {
      if (entry.path() == path) continue;
      left_something = true;
      CHECK(fs::status(entry.path()).permissions() == fs::perms(0600));  // at every moment
      fs::remove(entry.path());
    }
  }
  CHECK(letters.size() > 1);  // some writers got somewhere,
  CHECK(left_something);      // and some were in the middle
}

TEST_CASE("a command that a signal ends while it writes leaves nothing beside its file") {
  const Folder folder;
  const std::string path = folder.path("file");
  for (useconds_t delay_us = 0; delay_us < 30'000; delay_us += 1'500) {
    const auto by_tests = signal(SIGTERM, SIG_DFL);  // what the child does, from its first moment
    const pid_t child = fork();
    if (child != 0) signal(SIGTERM, by_tests);
    REQUIRE(child >= 0);
    if (child == 0) {
      const std::string text(2'000'000, 'x');
      while (write_output(path, text).ok()) {
      }
      _exit(1);
    }
    usleep(delay_us);
    REQUIRE(kill(child, SIGTERM) == 0);
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(WIFSIGNALED(status));
    for (const auto& entry : fs::directory_iterator(folder.root())) CHECK(entry.path() == path);
  }
}

}  // namespace placeto
