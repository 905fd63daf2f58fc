#include "tools/export/external_data.h"

#include <sys/stat.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <optional>
#include <system_error>
#include <tuple>
#include <vector>

#include "runtime/base/message.h"
#include "runtime/graph/text.h"
#include "tools/io/element_names.h"
#include "tools/onnx/functions.h"
#include "tools/onnx/value.h"

namespace placeto {
namespace {

namespace fs = std::filesystem;

// Where a tensor of so many bytes may begin: at a page, so that engines can map it, and small ones
// at the power of two that holds them, so that no file becomes more than thrice its tensors.
uint64_t aligned(uint64_t begin, uint64_t bytes) {
  const uint64_t alignment = std::bit_ceil(std::clamp<uint64_t>(bytes, 1, 4096));
  return (begin + alignment - 1) / alignment * alignment;
}

constexpr uint64_t kChunk = 1 << 20;

// Calls visit(TensorProto&) -> Status for every tensor of the message and what is nested in it.
template <class Visit>
Status visit_tensors(onnx::GraphProto& graph, const Visit& visit);

template <class Visit>
Status visit_tensors(onnx::SparseTensorProto& tensor, const Visit& visit) {
  const Status values = visit(*tensor.mutable_values());
  return values.ok() ? visit(*tensor.mutable_indices()) : values;
}

template <class Visit>
Status visit_tensors(onnx::AttributeProto& attribute, const Visit& visit) {
  if (attribute.has_t()) {
    if (Status s = visit(*attribute.mutable_t()); !s.ok()) return s;
  }
  if (attribute.has_sparse_tensor()) {
    if (Status s = visit_tensors(*attribute.mutable_sparse_tensor(), visit); !s.ok()) return s;
  }
  if (attribute.has_g()) {
    if (Status s = visit_tensors(*attribute.mutable_g(), visit); !s.ok()) return s;
  }
  for (auto& tensor : *attribute.mutable_tensors()) {
    if (Status s = visit(tensor); !s.ok()) return s;
  }
  for (auto& tensor : *attribute.mutable_sparse_tensors()) {
    if (Status s = visit_tensors(tensor, visit); !s.ok()) return s;
  }
  for (auto& body : *attribute.mutable_graphs()) {
    if (Status s = visit_tensors(body, visit); !s.ok()) return s;
  }
  return {};
}

template <class Visit>
Status visit_tensors(onnx::NodeProto& node, const Visit& visit) {
  for (auto& attribute : *node.mutable_attribute()) {
    if (Status s = visit_tensors(attribute, visit); !s.ok()) return s;
  }
  return {};
}

template <class Visit>
Status visit_tensors(onnx::GraphProto& graph, const Visit& visit) {
  for (auto& weight : *graph.mutable_initializer()) {
    if (Status s = visit(weight); !s.ok()) return s;
  }
  for (auto& weight : *graph.mutable_sparse_initializer()) {
    if (Status s = visit_tensors(weight, visit); !s.ok()) return s;
  }
  for (auto& node : *graph.mutable_node()) {
    if (Status s = visit_tensors(node, visit); !s.ok()) return s;
  }
  return {};
}

template <class Visit>
Status visit_tensors(onnx::ModelProto& model, const Visit& visit) {
  if (Status s = visit_tensors(*model.mutable_graph(), visit); !s.ok()) return s;
  for (auto& function : *model.mutable_functions()) {
    for (auto& node : *function.mutable_node()) {
      if (Status s = visit_tensors(node, visit); !s.ok()) return s;
    }
    const auto of_default = [&](onnx::AttributeProto& a) { return visit_tensors(a, visit); };
    if (Status s = change_defaults(function, of_default); !s.ok()) return s;
  }
  return {};
}

bool is_external(const onnx::TensorProto& tensor) {
  return tensor.data_location() == onnx::TensorProto::EXTERNAL;
}

struct Range {
  std::string location;
  uint64_t offset = 0;
  uint64_t length = std::numeric_limits<uint64_t>::max();  // to the end of the file
};

Result<Range> range_of(const onnx::TensorProto& tensor) {
  Range range;
  for (const auto& entry : tensor.external_data()) {
    if (entry.key() == "location") range.location = entry.value();
    if (entry.key() != "offset" && entry.key() != "length") continue;
    const char* end = entry.value().data() + entry.value().size();
    uint64_t& number = entry.key() == "offset" ? range.offset : range.length;
    const auto [stop, error] = std::from_chars(entry.value().data(), end, number);
    if (error != std::errc() || stop != end) {
      return Status::bad_input("external_data " + entry.key() + " is " +
                               placeto::in_quotes(entry.value()) + ", expected a whole number");
    }
  }
  const fs::path path = range.location;
  if (range.location.find('\0') != std::string::npos) {
    return Status::bad_input("external_data location is " + placeto::in_quotes(range.location) +
                             ", expected a path, which has no NUL byte");
  }
  const bool leaves = path.is_absolute() || std::find(path.begin(), path.end(), "..") != path.end();
  if (path.empty() || leaves) {
    return Status::bad_input("external_data location is " + placeto::in_quotes(range.location) +
                             ", expected a path within the folder of the model");
  }
  return range;
}

// The range's length becomes the tensor's by its type and shape, where the type tells.
Status fit(const onnx::TensorProto& tensor, Range& range) {
  const Dims dims(tensor.dims().begin(), tensor.dims().end());
  if (tensor.data_type() == onnx::TensorProto::STRING || element_bits(tensor.data_type()) == 0) {
    return {};
  }
  const std::optional<uint64_t> bytes = tensor_bytes(tensor.data_type(), dims);
  if (!bytes) {
    return Status::bad_input(
        "the dimensions are negative or too large, expected those of weights in a file");
  }
  if (range.length == Range().length) range.length = *bytes;
  if (range.length == *bytes) return {};
  return Status::bad_input(join({"external_data length is ", range.length, ", expected ", *bytes,
                                 " by the tensor's type and shape"}));
}

bool is_within(const fs::path& file, const fs::path& folder) {
  const auto [end, rest] = std::mismatch(folder.begin(), folder.end(), file.begin(), file.end());
  return end == folder.end() && rest != file.end();
}

}  // namespace

// Of one stage.
class Gatherer {
 public:
  Gatherer(ExternalFiles& files, std::string path, std::string location)
      : files_(files), path_(std::move(path)), location_(std::move(location)) {}

  Status add(onnx::TensorProto& tensor) {
    if (!is_external(tensor)) return {};
    const std::string where = "tensor " + placeto::in_quotes(tensor.name());
    Result<Range> range = range_of(tensor);
    if (!range.ok()) return range.status().at(where);
    if (Status s = fit(tensor, *range); !s.ok()) return s.at(where);
    const Result<Range> copied = copy_once(*range);
    if (!copied.ok()) return copied.status().at(where);
    tensor.clear_external_data();
    const auto set = [&](const char* key, const std::string& value) {
      auto& entry = *tensor.add_external_data();
      entry.set_key(key);
      entry.set_value(value);
    };
    set("location", location_);
    set("offset", std::to_string(copied->offset));
    set("length", std::to_string(copied->length));
    return {};
  }

  Status finish() {
    if (!out_.is_open()) return {};
    out_.close();
    return out_.good() ? Status() : unwritten();
  }

 private:
  // errno is what the last write left.
  Status unwritten() const {
    return Status::io(path_ + ": cannot write: " + std::generic_category().message(errno));
  }

  // Where the range is in the new file.
  Result<Range> copy_once(Range range) {
    const Result<ExternalFiles::Source> found = files_.find(range.location);
    if (!found.ok()) return found.status();
    const ExternalFiles::Source& source = *found;
    if (range.offset <= source.bytes && range.length == Range().length) {
      range.length = source.bytes - range.offset;
    }
    if (range.offset > source.bytes || range.length > source.bytes - range.offset) {
      return Status::bad_input(source.path + " has " + std::to_string(source.bytes) +
                               " bytes, expected at least " + std::to_string(range.offset) + " + " +
                               std::to_string(range.length));
    }
    const auto [at, fresh] =
        begin_of_.emplace(std::tuple(source.identity, range.offset, range.length), 0);
    if (!fresh) return Range{location_, at->second, range.length};
    at->second = aligned(end_, range.length);
    if (Status s = count(range.length, at->second - end_); !s.ok()) return s;
    if (Status s = copy(source.path, range, at->second); !s.ok()) return s;
    end_ = at->second + range.length;
    return Range{location_, at->second, range.length};
  }

  Status count(uint64_t bytes, uint64_t padding) {
    copied_ += bytes;
    files_.copied_ += bytes + padding;
    if (copied_ > files_.all_bytes_) {
      return Status::bad_input(
          "the weights of one stage hold more than the files that they are in (" +
          bytes_text(files_.all_bytes_) + "), expected tensors that do not overlap");
    }
    if (files_.copied_ / ExternalFiles::kMostCopies > files_.all_bytes_) {
      return Status::bad_input("the stages' weights hold more than " +
                               std::to_string(ExternalFiles::kMostCopies) +
                               " times what the model's do, expected fewer stages that share "
                               "weights");
    }
    return {};
  }

  Status copy(const std::string& source, const Range& range, uint64_t begin) {
    if (!out_.is_open()) out_.open(path_, std::ios::binary);
    out_.seekp(static_cast<std::streamoff>(begin));
    std::ifstream in(source, std::ios::binary);
    in.seekg(static_cast<std::streamoff>(range.offset));
    std::vector<char> chunk;
    for (uint64_t done = 0; done < range.length; done += chunk.size()) {
      if (files_.interrupted_ != nullptr && *files_.interrupted_) return Status::stopped();
      chunk.resize(std::min(kChunk, range.length - done));
      if (!in.read(chunk.data(), static_cast<std::streamsize>(chunk.size()))) {
        return Status::io(source + ": cannot be read");
      }
      out_.write(chunk.data(), static_cast<std::streamsize>(chunk.size()));
    }
    return out_.good() ? Status() : unwritten();
  }

  ExternalFiles& files_;
  std::string path_, location_;
  std::ofstream out_;
  // In the new file, by source, offset and length.
  std::map<std::tuple<ExternalFiles::Identity, uint64_t, uint64_t>, uint64_t> begin_of_;
  uint64_t end_ = 0, copied_ = 0;
};

std::set<std::string> external_locations(const onnx::ModelProto& model) {
  std::set<std::string> found;
  const auto look = [&](onnx::TensorProto& tensor) {
    for (const auto& entry : tensor.external_data()) {
      if (is_external(tensor) && entry.key() == "location") found.insert(entry.value());
    }
    return Status();
  };
  // The walk is shared with the one that changes tensors; this one does not.
  (void)visit_tensors(const_cast<onnx::ModelProto&>(model), look);
  return found;
}

bool has_external_data(const onnx::ModelProto& model) {
  bool found = false;
  const auto look = [&](onnx::TensorProto& tensor) {
    found = found || is_external(tensor);
    return Status();
  };
  return visit_tensors(const_cast<onnx::ModelProto&>(model), look).ok() && found;
}

ExternalFiles::ExternalFiles(const std::string& model, const std::atomic<bool>* interrupted)
    : interrupted_(interrupted) {
  const fs::path given = model;
  folder_ = given.has_parent_path() ? given.parent_path().string() : ".";
  std::error_code error;
  for (const fs::path& folder :
       {fs::canonical(folder_, error), fs::canonical(given, error).parent_path()}) {
    if (!folder.empty()) within_.push_back(folder.string());
  }
}

Result<ExternalFiles::Source> ExternalFiles::find(const std::string& location) {
  const auto known = sources_.find(location);
  if (known != sources_.end()) return known->second;
  const std::string given = (fs::path(folder_) / location).string();
  std::error_code error;
  const fs::path path = fs::canonical(given, error);
  if (error) return Status::bad_input(given + ": " + error.message());
  const bool inside = std::any_of(within_.begin(), within_.end(), [&](const std::string& folder) {
    return is_within(path, folder) || path == folder;
  });
  if (!inside) {
    return Status::bad_input(given + " is a symbolic link to " + placeto::in_quotes(path.string()) +
                             ", expected a file within the folder of the model");
  }
  struct stat found = {};
  if (stat(path.c_str(), &found) != 0) {
    return Status::io(given + ": " + std::generic_category().message(errno));
  }
  if (!S_ISREG(found.st_mode)) {
    return Status::bad_input(given + " is no file, expected one with weights");
  }
  Source source{path.string(), static_cast<uint64_t>(found.st_size), {found.st_dev, found.st_ino}};
  if (files_.insert(source.identity).second) all_bytes_ += source.bytes;
  return sources_.emplace(location, std::move(source)).first->second;
}

Status ExternalFiles::gather(onnx::ModelProto& model, const std::string& path,
                             const std::string& location) {
  Gatherer gatherer(*this, path, location);
  // Every file is known before the first is copied: what they hold together bounds what stages may.
  const auto look = [&](onnx::TensorProto& tensor) -> Status {
    if (!is_external(tensor)) return {};
    const Result<Range> range = range_of(tensor);
    const auto found = range.ok() ? find(range->location) : range.status();
    return found.ok() ? Status() : found.status().at("tensor " + placeto::in_quotes(tensor.name()));
  };
  if (Status s = visit_tensors(model, look); !s.ok()) return s;
  const Status status =
      visit_tensors(model, [&](onnx::TensorProto& tensor) { return gatherer.add(tensor); });
  return status.ok() ? gatherer.finish() : status;
}

}  // namespace placeto
