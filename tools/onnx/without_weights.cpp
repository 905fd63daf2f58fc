#include "tools/onnx/without_weights.h"

#include <sys/stat.h>

#include <array>
#include <cstdio>
#include <memory>
#include <vector>

#include "runtime/base/message.h"
#include "runtime/format/file_kind.h"

namespace placeto {
namespace {

enum WireType : uint32_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

// Messages on the way to tensors, and those of which a small file can have very many. Any other
// message is copied as it is.
enum class Message {
  kModel,
  kGraph,
  kNode,
  kAttribute,
  kTensor,
  kSparseTensor,
  kFunction,
  kEntry,  // of two fields: a version of a domain, a key with its value
  kValueInfo,
  kType,
  kTensorType,
  kShape,
  kDim,
  kElement,  // of a sequence or an optional
  kMap
};

enum class Action { kCopy, kDrop, kDescend, kContents };

struct Rule {
  Message in;
  uint32_t field;
  Action action;
  Message into = Message::kModel;
  const char* name = "";
};

// Field numbers of onnx.proto. What is not listed is copied.
constexpr Rule kRules[] = {
    {Message::kModel, 6, Action::kDrop},  // doc_string, also below
    {Message::kModel, 7, Action::kDescend, Message::kGraph, "graph"},
    {Message::kModel, 8, Action::kDescend, Message::kEntry, "opset_import"},
    {Message::kModel, 14, Action::kDescend, Message::kEntry, "metadata_props"},
    {Message::kModel, 20, Action::kDrop},  // training_info
    {Message::kModel, 25, Action::kDescend, Message::kFunction, "functions"},
    {Message::kGraph, 1, Action::kDescend, Message::kNode, "node"},
    {Message::kGraph, 5, Action::kDescend, Message::kTensor, "initializer"},
    {Message::kGraph, 10, Action::kDrop},
    {Message::kGraph, 11, Action::kDescend, Message::kValueInfo, "input"},
    {Message::kGraph, 12, Action::kDescend, Message::kValueInfo, "output"},
    {Message::kGraph, 13, Action::kDescend, Message::kValueInfo, "value_info"},
    {Message::kGraph, 14, Action::kDrop},  // quantization_annotation
    {Message::kGraph, 15, Action::kDescend, Message::kSparseTensor, "sparse_initializer"},
    {Message::kGraph, 16, Action::kDescend, Message::kEntry, "metadata_props"},
    {Message::kFunction, 7, Action::kDescend, Message::kNode, "node"},
    {Message::kFunction, 8, Action::kDrop},
    {Message::kFunction, 9, Action::kDescend, Message::kEntry, "opset_import"},
    {Message::kFunction, 11, Action::kDescend, Message::kAttribute, "attribute_proto"},
    {Message::kFunction, 12, Action::kDescend, Message::kValueInfo, "value_info"},
    {Message::kFunction, 14, Action::kDescend, Message::kEntry, "metadata_props"},
    {Message::kNode, 5, Action::kDescend, Message::kAttribute, "attribute"},
    {Message::kNode, 6, Action::kDrop},
    {Message::kNode, 9, Action::kDescend, Message::kEntry, "metadata_props"},
    {Message::kAttribute, 5, Action::kDescend, Message::kTensor, "t"},
    {Message::kAttribute, 6, Action::kDescend, Message::kGraph, "g"},
    {Message::kAttribute, 10, Action::kDescend, Message::kTensor, "tensors"},
    {Message::kAttribute, 11, Action::kDescend, Message::kGraph, "graphs"},
    {Message::kAttribute, 13, Action::kDrop},
    {Message::kAttribute, 14, Action::kDescend, Message::kType, "tp"},
    {Message::kAttribute, 15, Action::kDescend, Message::kType, "type_protos"},
    {Message::kAttribute, 22, Action::kDescend, Message::kSparseTensor, "sparse_tensor"},
    {Message::kAttribute, 23, Action::kDescend, Message::kSparseTensor, "sparse_tensors"},
    {Message::kSparseTensor, 1, Action::kDescend, Message::kTensor, "values"},
    {Message::kSparseTensor, 2, Action::kDescend, Message::kTensor, "indices"},
    {Message::kTensor, 4, Action::kContents},   // float_data
    {Message::kTensor, 5, Action::kContents},   // int32_data
    {Message::kTensor, 6, Action::kContents},   // string_data
    {Message::kTensor, 7, Action::kContents},   // int64_data
    {Message::kTensor, 9, Action::kContents},   // raw_data
    {Message::kTensor, 10, Action::kContents},  // double_data
    {Message::kTensor, 11, Action::kContents},  // uint64_data
    {Message::kTensor, 12, Action::kDrop},      // doc_string
    {Message::kTensor, 13, Action::kDescend, Message::kEntry, "external_data"},
    {Message::kTensor, 16, Action::kDescend, Message::kEntry, "metadata_props"},
    {Message::kValueInfo, 2, Action::kDescend, Message::kType, "type"},
    {Message::kValueInfo, 3, Action::kDrop},
    {Message::kValueInfo, 4, Action::kDescend, Message::kEntry, "metadata_props"},
    {Message::kType, 1, Action::kDescend, Message::kTensorType, "tensor_type"},
    {Message::kType, 4, Action::kDescend, Message::kElement, "sequence_type"},
    {Message::kType, 5, Action::kDescend, Message::kMap, "map_type"},
    {Message::kType, 8, Action::kDescend, Message::kTensorType, "sparse_tensor_type"},
    {Message::kType, 9, Action::kDescend, Message::kElement, "optional_type"},
    {Message::kElement, 1, Action::kDescend, Message::kType, "elem_type"},
    {Message::kMap, 2, Action::kDescend, Message::kType, "value_type"},
    {Message::kTensorType, 2, Action::kDescend, Message::kShape, "shape"},
    {Message::kShape, 1, Action::kDescend, Message::kDim, "dim"},
};

constexpr Rule rule_for(Message message, uint32_t field) {
  for (const Rule& rule : kRules) {
    if (rule.in == message && rule.field == field) return rule;
  }
  return {message, field, Action::kCopy};
}

// What protobuf, and what is made of it later, take for a message, a string or a number, in bytes,
// about.
constexpr uint64_t parsed_bytes(Message message) {
  if (message == Message::kValueInfo) return 512;
  return message > Message::kValueInfo ? 64 : 192;
}
constexpr uint64_t kParsedString = 48;
constexpr uint64_t kParsedNumber = 8;
constexpr uint64_t kParsedWorst = 24;  // for a byte of what is not looked into

// Lists of whole numbers, of which a byte may be one.
constexpr bool is_packed(Message in, uint32_t field) {
  return (in == Message::kAttribute && field == 8) ||
         (in == Message::kSparseTensor && field == 3) ||
         (in == Message::kTensor && (field == 1 || field == 5 || field == 7 || field == 11));
}

// One graph inside another is a level of attribute, graph and node: deeper than any real model.
// Protobuf itself refuses messages nested deeper than 100.
constexpr size_t kMaxNesting = 90;

struct Field {
  uint64_t begin = 0;  // of the tag
  uint32_t number = 0;
  uint32_t wire_type = 0;
  uint64_t content = 0;  // of the value, after a length
  uint64_t end = 0;
};

void append_varint(std::string& out, uint64_t value) {
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
  out += static_cast<char>(value);
}

class Stripper {
 public:
  Stripper(std::span<const uint8_t> bytes, const StripLimits& limits)
      : bytes_(bytes), limits_(limits) {}

  // Appends the message in bytes [begin, end) to `out`.
  Status copy_message(Message message, uint64_t begin, uint64_t end, std::string& out);

 private:
  Status read_varint(uint64_t& at, uint64_t end, uint64_t& value) const;
  Status read_field(uint64_t at, uint64_t end, Field& field) const;
  Status descend(const Rule& rule, const Field& field, std::string& out);
  Status copy_bytes(Message in, const Field& field, std::string& out);
  Status take(const Field& field, uint64_t parsed);
  Status failed(uint64_t at, const std::string& what) const;

  std::span<const uint8_t> bytes_;
  const StripLimits& limits_;
  std::vector<const char*> path_;  // names of the messages around the current one
  uint64_t parsed_ = 0;            // bytes that what was copied will take
};

Status Stripper::failed(uint64_t at, const std::string& what) const {
  std::string path;
  for (const char* name : path_) path += (path.empty() ? "" : ".") + std::string(name);
  return Status::bad_input("byte " + std::to_string(at) + " in " +
                           (path.empty() ? "the model" : path) + ": " + what +
                           ", expected an ONNX model (a protobuf message)");
}

Status Stripper::read_varint(uint64_t& at, uint64_t end, uint64_t& value) const {
  const uint64_t begin = at;
  value = 0;
  for (uint32_t shift = 0; shift < 70; shift += 7) {
    if (at >= end) return failed(begin, "a number runs past the end of its message");
    const uint8_t byte = bytes_[at++];
    if (shift < 64) value |= uint64_t{byte & 0x7fu} << shift;
    if (byte < 0x80) return {};
  }
  return failed(begin, "a number has more than 10 bytes");
}

Status Stripper::read_field(uint64_t at, uint64_t end, Field& field) const {
  field.begin = at;
  uint64_t tag = 0, length = 0;
  if (Status s = read_varint(at, end, tag); !s.ok()) return s;
  if (tag >> 32 != 0 || tag >> 3 == 0) return failed(field.begin, "there is no such field number");
  field.number = static_cast<uint32_t>(tag >> 3);
  field.wire_type = static_cast<uint32_t>(tag & 7);
  switch (field.wire_type) {
    case kVarint:
      field.content = at;
      if (Status s = read_varint(at, end, length); !s.ok()) return s;
      length = at - field.content;
      break;
    case kFixed64:
      field.content = at, length = 8;
      break;
    case kFixed32:
      field.content = at, length = 4;
      break;
    case kBytes:
      if (Status s = read_varint(at, end, length); !s.ok()) return s;
      field.content = at;
      break;
    default:
      return failed(field.begin, "there is no such field type");
  }
  if (length > end - field.content) {
    return failed(field.begin, "a field of " + std::to_string(length) +
                                   " bytes runs past the end of its message");
  }
  field.end = field.content + length;
  return {};
}

Status Stripper::take(const Field& field, uint64_t parsed) {
  parsed_ += parsed;
  if (parsed_ <= limits_.max_parsed_bytes) return {};
  return failed(field.begin, "the model without its weights takes more than " +
                                 bytes_text(limits_.max_parsed_bytes) + " in memory");
}

Status Stripper::copy_bytes(Message in, const Field& field, std::string& out) {
  const uint64_t length = field.end - field.content;
  uint64_t parsed = kParsedNumber;
  if (field.wire_type == kBytes) {
    parsed = is_packed(in, field.number) ? kParsedNumber * length : kParsedString + length;
  }
  if (Status s = take(field, parsed); !s.ok()) return s;
  if (out.size() + (field.end - field.begin) > limits_.max_structure_bytes) {
    return failed(field.begin, "the model without its weights is larger than " +
                                   bytes_text(limits_.max_structure_bytes));
  }
  out.append(reinterpret_cast<const char*>(bytes_.data()) + field.begin, field.end - field.begin);
  return {};
}

Status Stripper::descend(const Rule& rule, const Field& field, std::string& out) {
  path_.push_back(rule.name);
  if (path_.size() > kMaxNesting) return failed(field.begin, "messages are nested too deep");
  if (Status s = take(field, parsed_bytes(rule.into)); !s.ok()) return s;
  std::string content;
  if (Status s = copy_message(rule.into, field.content, field.end, content); !s.ok()) return s;
  path_.pop_back();
  append_varint(out, uint64_t{field.number} << 3 | kBytes);
  append_varint(out, content.size());
  if (out.size() + content.size() > limits_.max_structure_bytes) {
    return failed(field.begin, "the model without its weights is larger than " +
                                   bytes_text(limits_.max_structure_bytes));
  }
  out += content;
  return {};
}

Status Stripper::copy_message(Message message, uint64_t begin, uint64_t end, std::string& out) {
  std::string contents;  // of a tensor, until they are too large to keep
  uint64_t contents_bytes = 0;
  Field field;
  for (uint64_t at = begin; at < end; at = field.end) {
    if (Status s = read_field(at, end, field); !s.ok()) return s;
    const Rule rule = rule_for(message, field.number);
    Status status;
    if (rule.action == Action::kDrop && limits_.is_parsed_whole) {
      status = take(field, kParsedWorst * (field.end - field.begin));
    } else if (rule.action == Action::kDescend && field.wire_type == kBytes) {
      status = descend(rule, field, out);
    } else if (rule.action == Action::kCopy || rule.action == Action::kDescend) {
      status = copy_bytes(message, field, out);  // what is no message protobuf passes over, too
    } else if (rule.action == Action::kContents) {
      contents_bytes += field.end - field.begin;
      if (contents_bytes <= limits_.keep_tensor_bytes)
        status = copy_bytes(message, field, contents);
    }
    if (!status.ok()) return status;
  }
  if (contents_bytes <= limits_.keep_tensor_bytes) out += contents;
  return {};
}

}  // namespace

bool looks_like_onnx(std::span<const uint8_t> bytes) {
  // Models are written with ir_version (1) first; others may come before it by hand. Length-
  // delimited fields must fit a length that is not absurd, but the file may be a first piece.
  if (bytes.size() < 2) return false;
  const uint32_t field = bytes[0] >> 3, type = bytes[0] & 7u;
  if (field == 1 || field == 5) return type == kVarint && bytes[0] < 0x80;
  const bool message = field == 2 || field == 3 || field == 4 || field == 6 || field == 7 ||
                       field == 8 || field == 14;
  return message && type == kBytes;
}

bool is_onnx(std::span<const uint8_t> bytes) {
  return detect(bytes) == FileKind::kUnknown && looks_like_onnx(bytes);
}

bool is_onnx_file(const std::string& path) {
  struct stat info = {};
  if (stat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return false;
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"),
                                                             std::fclose);
  if (file == nullptr) return false;
  std::array<uint8_t, 16> head{};
  const size_t length = std::fread(head.data(), 1, head.size(), file.get());
  return is_onnx({head.data(), length});
}

Result<std::string> without_weights(std::span<const uint8_t> model, const StripLimits& limits) {
  std::string out;
  Stripper stripper(model, limits);
  if (Status s = stripper.copy_message(Message::kModel, 0, model.size(), out); !s.ok()) return s;
  return out;
}

}  // namespace placeto
