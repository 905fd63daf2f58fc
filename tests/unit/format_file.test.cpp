// Whole files, in and out.
#include "runtime/format/file.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "tests/support/folder.h"
#include "tests/unit/format_support.h"

namespace placeto {
namespace {

namespace fs = std::filesystem;
using test::bytes_of;
using test::Folder;
using test::message_of;

}  // namespace

TEST_CASE("what is written is read back, whatever the bytes and the size") {
  const Folder folder;
  for (const size_t size : {0u, 1u, 65536u, 300000u}) {
    std::vector<uint8_t> bytes(size);
    for (size_t i = 0; i < size; ++i) bytes[i] = static_cast<uint8_t>(i * 7);
    REQUIRE(write_file_atomically(folder.path("x"), bytes).ok());
    const auto back = read_file(folder.path("x"), 1'000'000);
    REQUIRE(back.ok());
    CHECK(*back == bytes);
  }
  CHECK(folder.size() == 1);
}

TEST_CASE("a missing file, a folder, a pipe and a device are refused without blocking") {
  const Folder folder;
  CHECK(message_of(read_file(folder.path("none"), 9)) ==
        folder.path("none") + ": cannot open: No such file or directory");
  CHECK(read_file(folder.path("none"), 9).status().code() == StatusCode::kIo);
  CHECK(message_of(read_file(folder.path("."), 9)) ==
        folder.path(".") + ": is a directory, expected a regular file");
  REQUIRE(::mkfifo(folder.path("pipe").c_str(), 0600) == 0);
  CHECK(message_of(read_file(folder.path("pipe"), 9)) ==
        folder.path("pipe") + ": is a pipe, expected a regular file");
  CHECK(message_of(read_file("/dev/zero", 9)) == "/dev/zero: is a device, expected a regular file");
}

TEST_CASE("a file one byte over the limit is refused, one at the limit is read") {
  const Folder folder;
  REQUIRE(write_file_atomically(folder.path("x"), std::string_view("12345")).ok());
  CHECK(read_file(folder.path("x"), 5).ok());
  CHECK(message_of(read_file(folder.path("x"), 4)) ==
        folder.path("x") + ": is larger than 4 B, expected at most that");
  CHECK(read_file(folder.path("x"), 4).status().code() == StatusCode::kBadInput);
}

TEST_CASE("a descriptor is read to its end, within the limit") {
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  REQUIRE(::write(ends[1], "hello", 5) == 5);
  ::close(ends[1]);
  const auto bytes = read_descriptor(ends[0], "standard input", 5);
  REQUIRE(bytes.ok());
  CHECK(std::string(bytes->begin(), bytes->end()) == "hello");
  ::close(ends[0]);

  const int zero = ::open("/dev/zero", O_RDONLY);
  CHECK(message_of(read_descriptor(zero, "standard input", 100'000)) ==
        "standard input: is larger than 97.7 KiB, expected at most that");
  ::close(zero);
}

TEST_CASE("a file that cannot be written leaves the old one and no other behind") {
  const Folder folder;
  CHECK(message_of(write_file_atomically(folder.path("no/x"), std::string_view("new"))) ==
        folder.path("no/x") + ": cannot create a file beside it: No such file or directory");
  CHECK(message_of(write_file_atomically(folder.path("."), std::string_view("new"))) ==
        folder.path(".") + ": is a directory, expected a regular file");
  CHECK(folder.size() == 0);
}

TEST_CASE("a full disk leaves the old file intact and removes the temporary one") {
  const Folder folder;
  REQUIRE(write_file_atomically(folder.path("x"), std::string_view("old")).ok());
  // A file size limit stands in for a full disk: write() fails once it is reached.
  const pid_t child = ::fork();
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit = {1000, 1000};
    if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) ::_exit(3);
    const Status status = write_file_atomically(folder.path("x"), std::string(5000, 'n'));
    ::_exit(!status.ok() && test::contains(status.message(), "cannot write: File too large") ? 0
                                                                                             : 1);
  }
  int result = 0;
  REQUIRE(::waitpid(child, &result, 0) == child);
  CHECK(result == 0);
  CHECK(bytes_of(folder.path("x")) == "old");
  CHECK(folder.size() == 1);
}

TEST_CASE("replacing a file keeps its permissions, and a symbolic link stays a link") {
  const Folder folder;
  REQUIRE(write_file_atomically(folder.path("x"), std::string_view("old")).ok());
  REQUIRE(::chmod(folder.path("x").c_str(), 0640) == 0);
  fs::create_symlink("x", folder.path("link"));
  REQUIRE(write_file_atomically(folder.path("link"), std::string_view("new")).ok());
  CHECK(bytes_of(folder.path("x")) == "new");
  CHECK(fs::is_symlink(folder.path("link")));
  struct stat info {};
  REQUIRE(::stat(folder.path("x").c_str(), &info) == 0);
  CHECK((info.st_mode & 07777) == 0640);
}

TEST_CASE("a symbolic link to a file that is not there yet is written through, too") {
  const Folder folder;
  fs::create_symlink("second", folder.path("first"));
  fs::create_symlink(folder.path("x"), folder.path("second"));
  CHECK(without_links(folder.path("first")) == folder.path("x"));
  REQUIRE(write_file_atomically(folder.path("first"), std::string_view("new")).ok());
  CHECK(bytes_of(folder.path("x")) == "new");
  CHECK(fs::is_symlink(folder.path("first")));
  CHECK(fs::is_symlink(folder.path("second")));
}

TEST_CASE("a symbolic link that leads nowhere stays as it is") {
  const Folder folder;
  fs::create_symlink("no/x", folder.path("lost"));
  fs::create_symlink("loop", folder.path("loop"));
  for (const char* name : {"lost", "loop"}) {
    CHECK(!write_file_atomically(folder.path(name), std::string_view("new")).ok());
    CHECK(fs::is_symlink(folder.path(name)));
  }
  CHECK(folder.size() == 2);
}

TEST_CASE("a file that is pending is seen once it is committed, and gone if it is not") {
  const Folder folder;
  const std::vector<uint8_t> bytes{'n', 'e', 'w'};
  REQUIRE(write_file_atomically(folder.path("x"), std::string_view("old")).ok());
  {
    const Result<PendingFile> dropped = PendingFile::write(folder.path("x"), bytes);
    REQUIRE(dropped.ok());
    CHECK(folder.size() == 2);
  }
  CHECK(folder.size() == 1);
  Result<PendingFile> file = PendingFile::write(folder.path("x"), bytes);
  REQUIRE(file.ok());
  CHECK(bytes_of(folder.path("x")) == "old");
  REQUIRE(file->commit().ok());
  CHECK(bytes_of(folder.path("x")) == "new");
  CHECK(folder.size() == 1);
}

TEST_CASE("what killed writers left behind is in nobody's way, whatever their process numbers") {
  const Folder folder;
  const std::string begin = folder.path("x.tmp-" + std::to_string(::getpid()) + "-");
  for (int i = 0; i < 200; ++i) std::ofstream(begin + std::to_string(i)) << "theirs";
  REQUIRE(write_file_atomically(folder.path("x"), std::string_view("ours")).ok());
  CHECK(bytes_of(folder.path("x")) == "ours");
  CHECK(bytes_of(begin + "0") == "theirs");
  CHECK(folder.size() == 201);
}

}  // namespace placeto
