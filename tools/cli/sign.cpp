// placeto keygen and sign, and what verify does with a policy: who wrote it.
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
#include "runtime/policy/file/policy.h"
#include "runtime/policy/guide.h"
#include "tools/cli/commands.h"
#include "tools/cli/common.h"
#include "tools/cli/files.h"
#include "tools/cli/graph_input.h"
#include "tools/cli/signed_policy.h"
#include "tools/io/policy_json.h"
#include "tools/io/write.h"
#include "tools/signature/signature.h"

namespace placeto::cli {
namespace {

constexpr const char* kSignExamples = R"(Examples:
  placeto keygen release                                  writes release.key and release.pub
  placeto sign policy.plpo --key release.key              writes policy.plpo.sig
  placeto verify policy.plpo --public-key release.pub

Keep the .key file secret; give the .pub file to those who check. A signature is Ed25519 (RFC 8032)
over the bytes of the binary file, and over the name under which it was signed. It does not say that
there is no newer one.)";

struct SignOptions {
  Common common;
  std::string name, policy, key, signature, out;
};

std::vector<uint8_t> read_bytes(const std::string& path) {
  return require(read_file(input_path(path), Limits{}.max_file_bytes));
}

template <size_t kSize>
std::array<uint8_t, kSize> read_hexadecimal(const std::string& path) {
  constexpr uint64_t kMaxBytes = 1024;
  const Result<std::vector<uint8_t>> bytes = read_file(input_path(path), kMaxBytes);
  if (bytes.status().code() == StatusCode::kBadInput) {  // too large
    throw Failure(kBadInputFile, fmt::format("{}: is no key, expected {} hexadecimal digits and "
                                             "nothing else",
                                             path, 2 * kSize));
  }
  require(bytes.status());
  std::array<uint8_t, kSize> value;
  require(from_text(as_text(*bytes), value).at(path));
  return value;
}

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
  std::vector<uint8_t> bytes = read_bytes(path);
  require(check_policy(bytes).at(path));
  return bytes;
}

// Never over an existing file: that could be the only copy of a key.
void refuse_existing(const std::string& path) {
  throw Failure(kBadUsage, path + ": exists already, and keys are not overwritten");
}
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

bool is_public_key(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return false;
  const auto bytes = read_file(path, 1024);
  PublicKey key;
  return bytes.ok() && from_text(as_text(*bytes), key).ok();
}

// A policy is signed, and looked for, under its file's name, or another that was agreed on.
std::string signed_name(const std::string& policy, const std::string& given) {
  if (policy == "-" && given.empty()) {
    throw Failure(kBadUsage, "standard input has no name to sign: --name NAME");
  }
  return given.empty() ? std::filesystem::path(policy).filename().string() : given;
}

std::string signature_path(const std::string& policy, const std::string& given) {
  if (policy == "-" && given.empty()) {
    throw Failure(kBadUsage, "standard input has no signature beside it: --signature FILE");
  }
  return given.empty() ? policy + ".sig" : given;
}

void run_keygen(const SignOptions& options) {
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

// The policy's bytes, which the key's owner signed.
std::vector<uint8_t> read_signed(const std::string& policy, const std::string& name,
                                 const std::string& public_key, const std::string& signature_file) {
  const auto key = read_hexadecimal<std::tuple_size_v<PublicKey>>(public_key);
  const std::vector<uint8_t> signature = require(read_file(input_path(signature_file), 16 << 10));
  require(check_signature(as_text(signature)).at(signature_file));
  std::vector<uint8_t> bytes = read_bytes(policy);
  require(verify_as(bytes, signed_name(policy, name), as_text(signature), key).at(policy));
  return bytes;
}

Command& add_command(Program& program, const char* name, const char* help,
                     const std::shared_ptr<SignOptions>& options, void (*run)(const SignOptions&)) {
  Command& command = program.add(name, help);
  command.footer(kSignExamples);
  command.action([options, run] { run(*options); });
  return command;
}

}  // namespace

std::shared_ptr<const Policy> load_signed_policy(const std::string& policy, const std::string& name,
                                                 const std::string& public_key,
                                                 const std::string& signature) {
  const std::vector<uint8_t> bytes =
      read_signed(policy, name, public_key, signature_path(policy, signature));
  return require(Policy::load(bytes, Policy::Bytes::kCopy, known_features()).at(policy));
}

void add_keygen(Program& program) {
  const auto options = std::make_shared<SignOptions>();
  Command& command =
      add_command(program, "keygen", "Make a key pair to sign policies with", options, run_keygen);
  command.argument("NAME", options->name, "NAME.key and NAME.pub are written").required().writes();
  add_common(command, options->common);
}

void add_sign(Program& program) {
  const auto options = std::make_shared<SignOptions>();
  Command& command = add_command(program, "sign", "Sign a policy file", options, run_sign);
  command.argument("POLICY", options->policy, "Policy file, binary").required();
  command.option("--key", "FILE", options->key, "Secret key").required();
  command
      .option("--name", "NAME", options->name,
              "Name to sign it under, that of the file if not given")
      .proposes_words({});
  command.option("-o,--output", "FILE", options->out, "Signature to write, POLICY.sig if not given")
      .writes();
  add_common(command, options->common);
}

void verify_signature(const std::string& policy, const std::string& signed_as,
                      const std::string& public_key, const std::string& signature_file, bool json) {
  const std::string path = signature_path(policy, signature_file);
  read_signed(policy, signed_as, public_key, path);
  const std::string name = signed_name(policy, signed_as);
  const auto key = read_hexadecimal<std::tuple_size_v<PublicKey>>(public_key);
  if (json) {
    print_json({{"file", policy},
                {"signature", path},
                {"name", name},
                {"key_id", key_id(key)},
                {"valid", true}});
  } else {
    print(fmt::format("{}: signed as '{}' by the owner of {} (key {})\n", printable(policy),
                      printable(name), printable(public_key), key_id(key)));
  }
}

}  // namespace placeto::cli
