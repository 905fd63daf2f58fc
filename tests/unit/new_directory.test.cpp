// Folders that exports make: permissions, owner and group.
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <filesystem>

#include "tests/unit/export_fixture.h"
#include "tools/export/new_directory.h"

// The system's, in all of this program, counted: it is one for all threads, so that changing it for
// a moment gives the files of others permissions that nobody asked for.
static int umask_calls = 0;
extern "C" mode_t umask(mode_t mask) noexcept {
  ++umask_calls;
  return static_cast<mode_t>(syscall(SYS_umask, mask));
}

namespace placeto {
namespace {

namespace fs = std::filesystem;
using test::Folder;

TEST_CASE("a new directory has the permissions that mkdir gives, without setting the umask") {
  const Folder folder;
  for (const mode_t mask : {022u, 027u}) {
    const mode_t before = umask(mask);
    const int calls = umask_calls;
    auto target = NewDirectory::create(folder.path("out"));
    REQUIRE(target.ok());
    REQUIRE(target->commit().ok());
    CHECK(umask_calls == calls);
    struct stat made {};
    REQUIRE(stat(folder.path("out").c_str(), &made) == 0);
    CHECK((made.st_mode & 0777) == (0777 & ~mask));
    CHECK(fs::is_empty(folder.path("out")));
    fs::remove(folder.path("out"));
    umask(before);
  }
}

// Of another group where that may be given, else as it is.
struct stat prepared(const std::string& path, mode_t mode) {
  struct stat made {};
  fs::create_directory(path);
  constexpr gid_t kOther = 54321;
  if (chown(path.c_str(), static_cast<uid_t>(-1), kOther) != 0) MESSAGE("no other group");
  REQUIRE(chmod(path.c_str(), mode) == 0);
  REQUIRE(stat(path.c_str(), &made) == 0);
  REQUIRE((made.st_mode & 07777) == mode);
  return made;
}

TEST_CASE("an empty directory that is replaced keeps its permissions, its owner and its group") {
  const Folder folder;
  for (const mode_t mode : {0700u, 0755u, 02775u, 01777u, 0555u}) {
    CAPTURE(mode);
    const struct stat old = prepared(folder.path("out"), mode);
    auto target = NewDirectory::create(folder.path("out"));
    REQUIRE(target.ok());
    folder.write(fs::relative(target->file("stage"), folder.path("")).string(), "bytes");
    REQUIRE(target->commit().ok());
    struct stat made {
    }, file{};
    REQUIRE(stat(folder.path("out").c_str(), &made) == 0);
    CHECK((made.st_mode & 07777) == mode);
    CHECK(made.st_uid == old.st_uid);
    CHECK(made.st_gid == old.st_gid);
    REQUIRE(stat(folder.path("out/stage").c_str(), &file) == 0);
    CHECK(file.st_gid == ((mode & S_ISGID) != 0 ? old.st_gid : getegid()));
    chmod(folder.path("out").c_str(), 0700);
    fs::remove_all(folder.path("out"));
  }
}

TEST_CASE("what cannot replace a directory that may not be written is removed") {
  const Folder folder;
  prepared(folder.path("out"), 0555);
  {
    auto target = NewDirectory::create(folder.path("out"));
    REQUIRE(target.ok());
    chmod(folder.path("out").c_str(), 0755);
    folder.write("out/other", "bytes");
    chmod(folder.path("out").c_str(), 0555);
    CHECK(target->commit().code() == StatusCode::kIo);
  }
  CHECK(folder.size() == 1);
  chmod(folder.path("out").c_str(), 0755);
}

TEST_CASE("a new directory has the group that its parent passes on") {
  const Folder folder;
  const struct stat parent = prepared(folder.path("team"), 02770);
  auto target = NewDirectory::create(folder.path("team/out"));
  REQUIRE(target.ok());
  REQUIRE(target->commit().ok());
  struct stat made {};
  REQUIRE(stat(folder.path("team/out").c_str(), &made) == 0);
  CHECK(made.st_gid == parent.st_gid);
  CHECK((made.st_mode & S_ISGID) != 0);
}

}  // namespace
}  // namespace placeto
