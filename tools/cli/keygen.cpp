// placeto keygen: a pair of keys for signatures of policies.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "tools/cli/commands.h"
#include "tools/cli/common.h"
#include "tools/cli/files.h"
#include "tools/cli/keys.h"
#include "tools/io/write.h"
#include "tools/signature/signature.h"

namespace placeto::cli {
namespace {

struct KeygenOptions {
  Common common;
  std::string name;
};

void write_secret(const std::string& path, std::string_view text) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file < 0) {
    if (errno == EEXIST) refuse_existing(path);
    throw Failure(kInternalError, path + ": cannot create: " + std::strerror(errno));
  }
  int why = 0;
  for (size_t done = 0; done < text.size() && why == 0;) {
    const ssize_t written = ::write(file, text.data() + done, text.size() - done);
    if (written >= 0) done += static_cast<size_t>(written);
    if (written < 0 && errno != EINTR) why = errno;
  }
  if (::close(file) != 0 && why == 0) why = errno;
  if (why == 0) return;
  ::unlink(path.c_str());
  throw Failure(kInternalError, path + ": cannot write: " + std::strerror(why));
}

void run_keygen(const KeygenOptions& options) {
  if (options.name == "-")
    throw Failure(kBadUsage, "keygen -: expected a name for two files of keys");
  const std::string secret_path = options.name + ".key", public_path = options.name + ".pub";
  check_outputs({secret_path, public_path});
  const SecretKey secret = require(make_secret_key());
  const std::string public_text = to_text(require(public_key_of(secret)));
  for (const std::string& path : {secret_path, public_path}) {
    if (std::filesystem::exists(path)) refuse_existing(path);
  }
  write_secret(secret_path, to_text(secret));
  if (const Status s = write_output(public_path, public_text); !s.ok()) {
    ::unlink(secret_path.c_str());  // half a pair is of no use
    require(s, kInternalError);
  }
  if (options.common.json) {
    print_json({{"key", secret_path},
                {"public_key", public_path},
                {"key_id", key_id(require(public_key_of(secret)))}});
  }
}

}  // namespace

void add_keygen(Program& program) {
  Command& command = program.add("keygen", "Make a key pair to sign policies with");
  const auto options = std::make_shared<KeygenOptions>();
  command.argument("NAME", options->name, "NAME.key and NAME.pub are written").required().writes();
  add_common(command, options->common);
  command.footer(kSignExamples);
  command.action([options] { run_keygen(*options); });
}

}  // namespace placeto::cli
