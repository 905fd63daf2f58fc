#include "runtime/format/buffer.h"

#include "runtime/base/message.h"

namespace placeto {

// An object of JSON begins as no binary file does: its identifier would be text at byte 4.
static bool looks_like_json(std::span<const uint8_t> bytes) {
  size_t at = 0;
  while (at < bytes.size() && (bytes[at] == ' ' || (bytes[at] >= 9 && bytes[at] <= 13))) ++at;
  return at < bytes.size() && bytes[at] == '{' && detect(bytes) == FileKind::kUnknown;
}

Status check_header(std::span<const uint8_t> bytes, FileKind expected, const Limits& limits) {
  const uint64_t limit = std::min(limits.max_file_bytes, kMaxBufferBytes);
  if (bytes.size() > limit) {
    return bad_input({"is ", bytes.size(), " bytes long, expected at most ", limit});
  }
  const std::string wanted = std::string("expected a ") + name_of(expected) + " (identifier " +
                             identifier_of(expected) + " at byte 4)";
  if (looks_like_json(bytes)) {
    return bad_input({"is JSON, ", wanted, ": 'placeto convert IN OUT' makes the binary form"});
  }
  if (bytes.size() < 12) {  // root offset, identifier, root table
    return bad_input({"is ", bytes.size(), " bytes long, ", wanted});
  }
  const FileKind found = detect(bytes);
  if (found == expected) return {};
  if (found == FileKind::kUnknown) {
    return bad_input({"has no known identifier, ", wanted});
  }
  return bad_input({"is a ", name_of(found), " (identifier ", identifier_of(found), "), ", wanted});
}

Status check_version(uint32_t format_version) {
  if (format_version == kFormatVersion) return {};
  const std::string expected = ", expected " + std::to_string(kFormatVersion);
  if (format_version == 0) {
    return bad_input({"format_version is absent or 0", expected});
  }
  return bad_input({"format_version is ", format_version, expected,
                    ": a newer version of Placeto may read this file"});
}

Status malformed(std::span<const uint8_t> bytes, FileKind expected) {
  return bad_input({"is truncated or damaged: its ", bytes.size(), " bytes are not a well-formed ",
                    name_of(expected), ", expected the file as it was written"});
}

Status check_end(std::span<const uint8_t> bytes, size_t used, FileKind expected) {
  if (used == bytes.size()) return {};
  return bad_input({"has ", bytes.size() - used, " bytes after the ", name_of(expected),
                    " ends, expected the file to end at byte ", used});
}

Status CopyBudget::too_much_sharing(const std::string& place) {
  return bad_input({place,
                    ": up to here the strings and lists expand to more than 64 times the "
                    "size of the file or 2 GiB, expected a file that shares less"});
}

Status check_buffer_size(uint64_t bytes, FileKind kind) {
  if (bytes <= kMaxBufferBytes) return {};
  return Status::invalid(join({"the ", name_of(kind), " needs up to ", bytes,
                               " bytes in binary form, expected at most ", kMaxBufferBytes}));
}

TextOffset add_text(flatbuffers::FlatBufferBuilder& builder, const std::string& text) {
  return text.empty() ? TextOffset(0) : builder.CreateString(text);
}

TextOffset add_shared_text(flatbuffers::FlatBufferBuilder& builder, const std::string& text) {
  return text.empty() ? TextOffset(0) : builder.CreateSharedString(text);
}

flatbuffers::Offset<flatbuffers::Vector<TextOffset>> add_texts(
    flatbuffers::FlatBufferBuilder& builder, const std::vector<std::string>& texts) {
  if (texts.empty()) return 0;
  std::vector<TextOffset> offsets;
  offsets.reserve(texts.size());
  for (const std::string& text : texts) offsets.push_back(builder.CreateSharedString(text));
  return builder.CreateVector(offsets.data(), offsets.size());
}

std::vector<uint8_t> finished_bytes(const flatbuffers::FlatBufferBuilder& builder) {
  const uint8_t* data = builder.GetBufferPointer();
  return {data, data + builder.GetSize()};
}

std::string hexadecimal(std::span<const uint8_t> bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const uint8_t byte : bytes) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

}  // namespace placeto
