// placeto keygen and sign, and what verify does with a policy: who wrote it.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>

#include "runtime/format/file.h"
#include "runtime/format/file_kind.h"
#include "runtime/policy/file/policy_file.h"
#include "tools/cli/commands.h"
#include "tools/cli/common.h"
#include "tools/io/policy_json.h"
#include "tools/signature/signature.h"

namespace placeto::cli {
namespace {

constexpr const char* kExamples = R"(Examples:
  placeto keygen release                                  writes release.key and release.pub
  placeto sign policy.plpo --key release.key              writes policy.plpo.sig
  placeto verify policy.plpo --public-key release.pub

Keep the .key file secret; give the .pub file to those who check. A signature is Ed25519 (RFC 8032)
over the bytes of the binary file; all three files are hexadecimal text.)";

struct Options {
  Common common;
  std::string name, policy, key, signature, out;
};

std::vector<uint8_t> read_bytes(const std::string& path) {
  return require(read_file(path, Limits{}.max_file_bytes));
}

template <size_t kSize>
std::array<uint8_t, kSize> read_hexadecimal(const std::string& path) {
  const std::vector<uint8_t> bytes = require(read_file(path, 1024));
  std::array<uint8_t, kSize> value;
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  require(from_text(text, value).at(path));
  return value;
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
  const bool written = ::write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  if (::close(file) == 0 && written) return;
  ::unlink(path.c_str());
  throw Failure(kInternalError, path + ": cannot write");
}

void run_keygen(const Options& options) {
  const std::string secret_path = options.name + ".key", public_path = options.name + ".pub";
  check_outputs({secret_path, public_path});
  const SecretKey secret = require(make_secret_key());
  const std::string public_text = to_text(require(public_key_of(secret)));
  for (const std::string& path : {secret_path, public_path}) {
    if (std::filesystem::exists(path)) refuse_existing(path);
  }
  write_secret(secret_path, to_text(secret));
  if (const Status s = write_file_atomically(public_path, public_text); !s.ok()) {
    ::unlink(secret_path.c_str());  // half a pair is of no use
    require(s, kInternalError);
  }
  if (options.common.json) print_json({{"key", secret_path}, {"public_key", public_path}});
}

void run_sign(const Options& options) {
  const std::string out = options.out.empty() ? options.policy + ".sig" : options.out;
  check_outputs({out}, {options.policy, options.key});
  const auto secret = read_hexadecimal<std::tuple_size_v<SecretKey>>(options.key);
  const std::vector<uint8_t> policy = read_policy_bytes(options.policy);
  const std::string signature = to_text(require(sign(policy, secret)));
  if (options.common.json) print_json({{"file", options.policy}, {"signature", out}});
  write_text(out, signature);
}

Command& add_command(Program& program, const char* name, const char* help,
                     const std::shared_ptr<Options>& options, void (*run)(const Options&)) {
  Command& command = program.add(name, help);
  command.footer(kExamples);
  command.action([options, run] { run(*options); });
  return command;
}

}  // namespace

void add_keygen(Program& program) {
  const auto options = std::make_shared<Options>();
  Command& command =
      add_command(program, "keygen", "Make a key pair to sign policies with", options, run_keygen);
  command.argument("NAME", options->name, "NAME.key and NAME.pub are written").required();
  add_common(command, options->common);
}

void add_sign(Program& program) {
  const auto options = std::make_shared<Options>();
  Command& command = add_command(program, "sign", "Sign a policy file", options, run_sign);
  command.argument("POLICY", options->policy, "Policy file, binary").required();
  command.option("-k,--key", "FILE", options->key, "Secret key").required();
  command.option("-o,--output", "FILE", options->out,
                 "Signature to write, POLICY.sig if not given");
  add_common(command, options->common);
}

void verify_signature(const std::string& policy, const std::string& public_key,
                      const std::string& signature_file, bool json) {
  const std::string path = signature_file.empty() ? policy + ".sig" : signature_file;
  const auto key = read_hexadecimal<std::tuple_size_v<PublicKey>>(public_key);
  const auto signature = read_hexadecimal<std::tuple_size_v<Signature>>(path);
  require(verify(read_bytes(policy), signature, key).at(policy));
  if (json) {
    print_json({{"file", policy}, {"signature", path}, {"valid", true}});
  } else {
    print(policy + ": signed by the owner of " + public_key + "\n");
  }
}

}  // namespace placeto::cli
