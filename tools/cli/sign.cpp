// placeto sign: a policy, so that others can tell who wrote it.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>

#include "runtime/format/file.h"
#include "runtime/graph/text.h"
#include "tools/cli/commands.h"
#include "tools/cli/common.h"
#include "tools/cli/files.h"
#include "tools/cli/keys.h"
#include "tools/cli/signed_policy.h"
#include "tools/io/policy_json.h"
#include "tools/signature/signature.h"

namespace placeto::cli {
namespace {

struct SignOptions {
  Common common;
  std::string name, policy, key, out;
};

// One that others can read is no secret any more.
SecretKey read_secret(const std::string& path) {
  struct stat info {};
  const bool pipe = ::stat(path.c_str(), &info) == 0 && S_ISFIFO(info.st_mode);
  const int waits = pipe ? 0 : O_NONBLOCK;  // for whoever writes into a pipe, and nothing else
  const int file = path == "-" ? ::dup(STDIN_FILENO)
                               : ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | waits);
  if (file < 0) throw Failure(kBadInputFile, path + ": cannot open: " + std::strerror(errno));
  const bool known = ::fstat(file, &info) == 0;
  const Result<std::vector<uint8_t>> bytes = read_descriptor(file, path, 1024);
  ::close(file);
  SecretKey secret;
  require(from_text(as_text(require(bytes)), secret).at(path));
  if (known && S_ISREG(info.st_mode) && (info.st_mode & 077) != 0) {
    throw Failure(kBadInputFile,
                  fmt::format("{}: others than its owner can use it (mode {:o}), "
                              "expected a secret key of mode 600 or 400; make a new one "
                              "if somebody may have read it",
                              path, info.st_mode & 07777));
  }
  return secret;
}

// The bytes of a policy that is in order: a signature under a damaged one would be worth nothing.
std::vector<uint8_t> read_policy_bytes(const std::string& path) {
  std::vector<uint8_t> bytes = policy_bytes(path);
  require(check_policy(bytes).at(path));
  return bytes;
}

bool is_public_key(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return false;
  const auto bytes = read_file(path, 1024);
  PublicKey key;
  return bytes.ok() && from_text(as_text(*bytes), key).ok();
}

void run_sign(const SignOptions& options) {
  const std::string beside = options.policy == "-" ? "-" : options.policy + ".sig";
  const std::string out = options.out.empty() ? beside : options.out;
  check_outputs({out});
  if (is_public_key(out)) refuse_existing(out);
  const SecretKey secret = read_secret(options.key);
  const std::vector<uint8_t> policy = read_policy_bytes(options.policy);
  const std::string name = signed_name(options.policy, options.name);
  const std::string signature = require(sign_as(policy, name, secret));
  const std::string id = key_id(require(public_key_of(secret)));
  if (options.common.json) {
    print_json({{"file", options.policy}, {"signature", out}, {"name", name}, {"key_id", id}});
  }
  write_text(out, signature);
}

}  // namespace

void add_sign(Program& program) {
  Command& command = program.add("sign", "Sign a policy file");
  const auto options = std::make_shared<SignOptions>();
  command.argument("POLICY", options->policy, "Policy file, binary").required();
  command.option("--key", "FILE", options->key, "Secret key").required();
  command
      .option("--name", "NAME", options->name,
              "Name to sign it under, that of the file if not given")
      .proposes_words({});
  command.option("-o,--output", "FILE", options->out, "Signature to write, POLICY.sig if not given")
      .writes();
  add_common(command, options->common);
  command.footer(kSignExamples);
  command.action([options] { run_sign(*options); });
}

}  // namespace placeto::cli
