#include "tools/export/external_data.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <system_error>
#include <vector>

#include "runtime/graph/text.h"

namespace placeto {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kAlignment = 4096;  // so that engines can map a tensor from the file
constexpr uint64_t kChunk = 1 << 20;

// Calls visit(TensorProto&) -> Status for every tensor of the message and what is nested in it.
template <class Visit>
Status visit_tensors(onnx::GraphProto& graph, const Visit& visit);

template <class Visit>
Status visit_tensors(onnx::NodeProto& node, const Visit& visit) {
  for (auto& attribute : *node.mutable_attribute()) {
    if (attribute.has_t()) {
      if (Status s = visit(*attribute.mutable_t()); !s.ok()) return s;
    }
    for (auto& tensor : *attribute.mutable_tensors()) {
      if (Status s = visit(tensor); !s.ok()) return s;
    }
    if (attribute.has_g()) {
      if (Status s = visit_tensors(*attribute.mutable_g(), visit); !s.ok()) return s;
    }
    for (auto& body : *attribute.mutable_graphs()) {
      if (Status s = visit_tensors(body, visit); !s.ok()) return s;
    }
  }
  return {};
}

template <class Visit>
Status visit_tensors(onnx::GraphProto& graph, const Visit& visit) {
  for (auto& weight : *graph.mutable_initializer()) {
    if (Status s = visit(weight); !s.ok()) return s;
  }
  for (auto& weight : *graph.mutable_sparse_initializer()) {
    if (Status s = visit(*weight.mutable_values()); !s.ok()) return s;
    if (Status s = visit(*weight.mutable_indices()); !s.ok()) return s;
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
  const bool leaves = path.is_absolute() || std::find(path.begin(), path.end(), "..") != path.end();
  if (path.empty() || leaves) {
    return Status::bad_input("external_data location is " + placeto::in_quotes(range.location) +
                             ", expected a path within the folder of the model");
  }
  return range;
}

class Gatherer {
 public:
  Gatherer(std::string from_folder, std::string path, std::string location)
      : from_(std::move(from_folder)), path_(std::move(path)), location_(std::move(location)) {}

  Status add(onnx::TensorProto& tensor) {
    if (!is_external(tensor)) return {};
    const std::string where = "tensor " + placeto::in_quotes(tensor.name());
    Result<Range> range = range_of(tensor);
    if (!range.ok()) return range.status().at(where);
    if (Status s = copy(*range); !s.ok()) return s.at(where);
    tensor.clear_external_data();
    const auto set = [&](const char* key, const std::string& value) {
      auto& entry = *tensor.add_external_data();
      entry.set_key(key);
      entry.set_value(value);
    };
    set("location", location_);
    set("offset", std::to_string(end_ - range->length));
    set("length", std::to_string(range->length));
    return {};
  }

  Status finish() {
    if (!out_.is_open()) return {};
    out_.close();
    return out_.good() ? Status() : Status::io(path_ + ": cannot be written");
  }

 private:
  // Appends the range, whose length is put right if it was open.
  Status copy(Range& range) {
    const std::string source = (from_ / range.location).string();
    std::error_code error;
    const uint64_t size = fs::file_size(source, error);
    if (error) return Status::io(source + ": " + error.message());
    if (range.offset <= size && range.length == Range().length) range.length = size - range.offset;
    if (range.offset > size || range.length > size - range.offset) {
      return Status::bad_input(source + " has " + std::to_string(size) +
                               " bytes, expected at least " + std::to_string(range.offset) + " + " +
                               std::to_string(range.length));
    }
    if (!out_.is_open()) out_.open(path_, std::ios::binary);
    const uint64_t begin = (end_ + kAlignment - 1) / kAlignment * kAlignment;
    out_.seekp(static_cast<std::streamoff>(begin));
    std::ifstream in(source, std::ios::binary);
    in.seekg(static_cast<std::streamoff>(range.offset));
    std::vector<char> chunk;
    for (uint64_t done = 0; done < range.length; done += chunk.size()) {
      chunk.resize(std::min(kChunk, range.length - done));
      if (!in.read(chunk.data(), static_cast<std::streamsize>(chunk.size()))) {
        return Status::io(source + ": cannot be read");
      }
      out_.write(chunk.data(), static_cast<std::streamsize>(chunk.size()));
    }
    end_ = begin + range.length;
    return out_.good() ? Status() : Status::io(path_ + ": cannot be written");
  }

  fs::path from_;
  std::string path_, location_;
  std::ofstream out_;
  uint64_t end_ = 0;
};

}  // namespace

bool has_external_data(const onnx::ModelProto& model) {
  bool found = false;
  const auto look = [&](onnx::TensorProto& tensor) {
    found = found || is_external(tensor);
    return Status();
  };
  // The walk is shared with the one that changes tensors; this one does not.
  return visit_tensors(const_cast<onnx::ModelProto&>(model), look).ok() && found;
}

Status gather_external_data(onnx::ModelProto& model, const std::string& from_folder,
                            const std::string& path, const std::string& location) {
  Gatherer gatherer(from_folder, path, location);
  const Status status =
      visit_tensors(model, [&](onnx::TensorProto& tensor) { return gatherer.add(tensor); });
  return status.ok() ? gatherer.finish() : status;
}

}  // namespace placeto
