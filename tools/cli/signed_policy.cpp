#include "tools/cli/signed_policy.h"

#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <tuple>

#include "runtime/format/file.h"
#include "runtime/graph/text.h"
#include "runtime/policy/guide.h"
#include "tools/cli/common.h"
#include "tools/cli/graph_input.h"
#include "tools/signature/signature.h"

namespace placeto::cli {

std::vector<uint8_t> policy_bytes(const std::string& path) {
  return require(read_file(input_path(path), Limits{}.max_file_bytes));
}

std::string signed_name(const std::string& policy, const std::string& given) {
  if (policy == "-" && given.empty()) {
    throw Failure(kBadUsage, "standard input has no name to sign: --name NAME");
  }
  return given.empty() ? std::filesystem::path(policy).filename().string() : given;
}

namespace {

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

std::string signature_path(const std::string& policy, const std::string& given) {
  if (policy == "-" && given.empty()) {
    throw Failure(kBadUsage, "standard input has no signature beside it: --signature FILE");
  }
  return given.empty() ? policy + ".sig" : given;
}

// The policy's bytes, which the key's owner signed.
std::vector<uint8_t> read_signed(const std::string& policy, const std::string& name,
                                 const std::string& public_key, const std::string& signature_file) {
  const auto key = read_hexadecimal<std::tuple_size_v<PublicKey>>(public_key);
  const std::vector<uint8_t> signature = require(read_file(input_path(signature_file), 16 << 10));
  require(check_signature(as_text(signature)).at(signature_file));
  std::vector<uint8_t> bytes = policy_bytes(policy);
  require(verify_as(bytes, signed_name(policy, name), as_text(signature), key).at(policy));
  return bytes;
}

}  // namespace

std::shared_ptr<const Policy> load_signed_policy(const std::string& policy, const std::string& name,
                                                 const std::string& public_key,
                                                 const std::string& signature) {
  const std::vector<uint8_t> bytes =
      read_signed(policy, name, public_key, signature_path(policy, signature));
  return require(Policy::load(bytes, Policy::Bytes::kCopy, known_features()).at(policy));
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
