// Verifying and copying FlatBuffers that may be hostile. Private to the format code: FlatBuffers
// types appear in no public header.
//
// The verifier proves that every offset stays inside the buffer, and no more. Three things are left
// to do here. (1) Offsets may share their targets, so a small file can describe a huge object: a
// million nodes that all point at one long list. CopyBudget bounds what is copied by the size of
// the file. (2) Vectors of 8-byte numbers are only proven to be 4-byte aligned, so they are copied
// byte-wise and never indexed. (3) Fields that this version does not know would be skipped in
// silence, and bytes after the end as well; the JSON form refuses both, so the binary form does.
#pragma once

#include <flatbuffers/flatbuffers.h>

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "runtime/base/limits.h"
#include "runtime/base/message.h"
#include "runtime/base/result.h"
#include "runtime/format/file_kind.h"

namespace placeto {

// FlatBuffers offsets are 31 bits; the builder needs some room for alignment and the header.
inline constexpr uint64_t kMaxBufferBytes = (uint64_t{1} << 31) - 1024;

// The bytes at an address that is a multiple of 8, as the verifier presumes: the caller's own, or a
// copy when those are not.
class AlignedBytes {
 public:
  explicit AlignedBytes(std::span<const uint8_t> bytes) : bytes_(bytes) {
    if (reinterpret_cast<uintptr_t>(bytes.data()) % 8 == 0) return;
    copy_.assign(bytes.begin(), bytes.end());
    bytes_ = copy_;
  }
  AlignedBytes(const AlignedBytes&) = delete;
  AlignedBytes& operator=(const AlignedBytes&) = delete;
  std::span<const uint8_t> get() const { return bytes_; }

 private:
  std::span<const uint8_t> bytes_;
  std::vector<uint8_t> copy_;
};

// Size and identifier. Must hold before anything else is read.
Status check_header(std::span<const uint8_t> bytes, FileKind expected, const Limits& limits);

Status check_version(uint32_t format_version);

// The bytes are not a well-formed buffer, for whatever reason the verifier had.
Status malformed(std::span<const uint8_t> bytes, FileKind expected);

Status check_end(std::span<const uint8_t> bytes, size_t used, FileKind expected);

// Verifies the whole buffer: structure, and that it ends where the file ends. max_tables counts
// every visit to a table, shared or not.
template <class Root>
Status verify_buffer(std::span<const uint8_t> bytes, FileKind expected, uint32_t max_tables) {
  flatbuffers::Verifier::Options options;
  options.max_depth = 4;  // root and the tables in its vectors are 2
  options.max_tables = max_tables;
  flatbuffers::Verifier verifier(bytes.data(), bytes.size(), options);
  if (!verifier.VerifyBuffer<Root>(identifier_of(expected))) return malformed(bytes, expected);
  return check_end(bytes, verifier.GetComputedSize(), expected);
}

// Fails when a verified table has room for a field beyond those of its schema: writers leave out
// what would be absent at the end.
template <class Table>
Status check_known_fields(const Table* table) {
  const auto* raw = reinterpret_cast<const flatbuffers::Table*>(table);
  const size_t size = flatbuffers::ReadScalar<flatbuffers::voffset_t>(raw->GetVTable());
  const size_t known = Table::MiniReflectTypeTable()->num_elems;
  if (size < 4 + 2 * known + 2) return {};
  return bad_input({"has ", (size - 4) / 2, " fields, expected at most ", known,
                    ": a newer version may have written this file"});
}

// Copies strings and lists out of a verified buffer until they add up to more than an honest file
// of that size would hold; from then on it copies nothing and exhausted() is true.
class CopyBudget {
 public:
  // Writers may share equal strings. Names are some tens of bytes and each use costs at least 4, so
  // an honest file expands a few times; 64 leaves room.
  explicit CopyBudget(size_t file_bytes)
      : left_(std::min(kMostCopied, (uint64_t{1} << 20) + 64 * file_bytes)) {}

  bool exhausted() const { return exhausted_; }

  // True when that many more bytes may be copied.
  bool take(uint64_t bytes) {
    exhausted_ = exhausted_ || bytes > left_;
    if (!exhausted_) left_ -= bytes;
    return !exhausted_;
  }

  void copy(const flatbuffers::String* from, std::string& to) {
    if (from != nullptr && take(from->size())) to.assign(from->c_str(), from->size());
  }

  template <class T>
  void copy(const flatbuffers::Vector<T>* from, std::vector<T>& to) {
    if (from == nullptr || !take(uint64_t{from->size()} * sizeof(T))) return;
    to.resize(from->size());
    if (!to.empty()) std::memcpy(to.data(), from->Data(), to.size() * sizeof(T));
  }

  using Strings = flatbuffers::Vector<flatbuffers::Offset<flatbuffers::String>>;
  void copy(const Strings* from, std::vector<std::string>& to) {
    if (from == nullptr || !take(uint64_t{from->size()} * sizeof(std::string))) return;
    to.resize(from->size());
    for (uint32_t i = 0; i < from->size() && !exhausted_; ++i) copy(from->Get(i), to[i]);
  }

  // What to say when exhausted; `place` is where.
  static Status too_much_sharing(const std::string& place);

 private:
  static constexpr uint64_t kMostCopied = uint64_t{1} << 31;

  uint64_t left_;
  bool exhausted_ = false;
};

// Upper bounds of what the builder adds for one item, alignment included.
inline uint64_t string_bytes(const std::string& text) {
  return text.empty() ? 0 : text.size() + 16;
}
template <class T>
uint64_t vector_bytes(const std::vector<T>& list) {
  return list.empty() ? 0 : list.size() * sizeof(T) + 16;
}
inline uint64_t vector_bytes(const std::vector<std::string>& list) {
  uint64_t bytes = 4 * list.size() + 16;
  for (const std::string& text : list) bytes += text.size() + 16;
  return bytes;
}

// Fails when a buffer of that size cannot be built.
Status check_buffer_size(uint64_t bytes, FileKind kind);

// Absent for empty text or an empty list.
using TextOffset = flatbuffers::Offset<flatbuffers::String>;
TextOffset add_text(flatbuffers::FlatBufferBuilder& builder, const std::string& text);
// Equal texts are stored once.
TextOffset add_shared_text(flatbuffers::FlatBufferBuilder& builder, const std::string& text);
flatbuffers::Offset<flatbuffers::Vector<TextOffset>> add_texts(
    flatbuffers::FlatBufferBuilder& builder, const std::vector<std::string>& texts);
template <class T>
flatbuffers::Offset<flatbuffers::Vector<T>> add_list(flatbuffers::FlatBufferBuilder& builder,
                                                     const std::vector<T>& list) {
  if (list.empty()) return 0;
  return builder.CreateVector(list.data(), list.size());
}

std::vector<uint8_t> finished_bytes(const flatbuffers::FlatBufferBuilder& builder);

// Two digits a byte.
std::string hexadecimal(std::span<const uint8_t> bytes);

}  // namespace placeto
