#include "tests/fuzz/reseal.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <optional>

#include "runtime/base/sha256.h"

namespace placeto::fuzz {
namespace {

// Field numbers of the root table in schema/policy.fbs.
constexpr size_t kFileBytesField = 1, kSha256Field = 8;

template <class T>
std::optional<T> read(const std::vector<uint8_t>& bytes, uint64_t at) {
  if (at > bytes.size() || bytes.size() - at < sizeof(T)) return std::nullopt;
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

// Where a field of the root table lies, by the FlatBuffers layout: the root's offset at 0, at the
// root the distance back to its vtable, in there one 16-bit offset per field after two sizes.
std::optional<uint64_t> root_field(const std::vector<uint8_t>& bytes, size_t field) {
  const auto root = read<uint32_t>(bytes, 0);
  if (!root) return std::nullopt;
  const auto back = read<int32_t>(bytes, *root);
  if (!back) return std::nullopt;
  const int64_t vtable = int64_t{*root} - *back;
  if (vtable < 0) return std::nullopt;
  const auto offset = read<uint16_t>(bytes, static_cast<uint64_t>(vtable) + 4 + 2 * field);
  if (!offset || *offset == 0) return std::nullopt;
  return uint64_t{*root} + *offset;
}

}  // namespace

bool reseal_policy(std::vector<uint8_t>& bytes) {
  const auto length = root_field(bytes, kFileBytesField);
  const auto hash = root_field(bytes, kSha256Field);
  if (!length || !hash || !read<uint32_t>(bytes, *length)) return false;
  const auto offset = read<uint32_t>(bytes, *hash);
  if (!offset) return false;
  const uint64_t digest = *hash + *offset + 4;
  if (!read<Sha256Digest>(bytes, digest)) return false;

  const auto size = static_cast<uint32_t>(bytes.size());
  std::memcpy(bytes.data() + *length, &size, sizeof size);
  std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(digest), sizeof(Sha256Digest),
              uint8_t{0});
  const Sha256Digest computed = sha256(bytes);
  std::copy(computed.begin(), computed.end(), bytes.begin() + static_cast<std::ptrdiff_t>(digest));
  return true;
}

}  // namespace placeto::fuzz
