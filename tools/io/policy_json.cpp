#include "tools/io/policy_json.h"

#include <policy_generated.h>

#include <algorithm>
#include <string>

#include "runtime/format/buffer.h"
#include "runtime/policy/file/policy_file.h"
#include "runtime/policy/guide.h"
#include "tools/io/json_reader.h"

namespace placeto {
namespace {

// The text's file_bytes and sha256 against those of the file it describes.
Status check_stated(const schema::Policy& stated, const schema::Policy& made) {
  const std::string advice = " (leave file_bytes and sha256 out of a policy edited by hand)";
  if (stated.file_bytes() != 0 && stated.file_bytes() != made.file_bytes()) {
    return Status::bad_input("file_bytes is " + std::to_string(stated.file_bytes()) +
                             ", expected " + std::to_string(made.file_bytes()) +
                             ", the size of the binary form" + advice);
  }
  if (stated.sha256() == nullptr) return {};
  const std::span<const uint8_t> there(stated.sha256()->data(), stated.sha256()->size());
  const std::span<const uint8_t> here(made.sha256()->data(), made.sha256()->size());
  if (std::equal(there.begin(), there.end(), here.begin(), here.end())) return {};
  return Status::bad_input(
      "sha256 is " +
      hexadecimal(there.first(std::min<size_t>(there.size(), Sha256Digest{}.size()))) +
      ", expected " + hexadecimal(here) + ", that of the binary form" + advice);
}

}  // namespace

Status check_policy(std::span<const uint8_t> bytes, const Limits& limits) {
  const AlignedBytes aligned(bytes);
  if (Status s = verify_policy_bytes(aligned.get(), limits); !s.ok()) return s;
  return verify_policy_meaning(aligned.get(), known_features(), limits);
}

Result<std::vector<uint8_t>> policy_from_json(std::string_view text, const Limits& limits) {
  const auto buffer = json_to_buffer(text, FileKind::kPolicy, limits);
  if (!buffer.ok()) return buffer.status();
  const schema::Policy& stated = *schema::GetPolicy(buffer->data());
  if (Status s = check_version(stated.format_version()); !s.ok()) return s;
  if (stated.dimensions() == nullptr) {
    return Status::bad_input("dimensions is absent, expected the widths of the networks");
  }
  // Through the writer of policy files, so that equal descriptions give equal bytes.
  auto bytes = encode_policy(copy_policy(*buffer, CopyTensors::kYes));
  if (!bytes.ok()) return bytes.status();
  if (Status s = check_stated(stated, *schema::GetPolicy(bytes->data())); !s.ok()) return s;
  if (Status s = check_policy(*bytes, limits); !s.ok()) return s;
  return bytes;
}

}  // namespace placeto
