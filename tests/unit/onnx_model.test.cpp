// Reading models: with and without weights, and what is wrong with a file.
#include <doctest/doctest.h>

#include <cstdio>
#include <filesystem>

#include "tests/support/onnx_models.h"
#include "tools/onnx/import.h"
#include "tools/onnx/model.h"

using namespace placeto;
using namespace placeto::test;

namespace {

std::string problem(const std::string& bytes) {
  const auto model = parse_onnx(as_bytes(bytes));
  REQUIRE(!model.ok());
  CHECK(model.status().code() == StatusCode::kBadInput);
  return model.status().message();
}

// A field of wire type 2.
std::string field(int number, const std::string& content) {
  std::string out(1, static_cast<char>(number << 3 | 2));
  size_t length = content.size();
  for (; length >= 128; length >>= 7) out += static_cast<char>(length | 128);
  return out + static_cast<char>(length) + content;
}

}  // namespace

TEST_CASE("without weights, large contents are gone and everything else is there") {
  OnnxBuilder b;
  b.weight("large", {1000, 1000});
  b.weight("small", {10});
  b.integers("shape", {1, 2, 3});
  b.graph().set_doc_string("long story");
  b.node("Relu", {"large"}, {"y"}, "relu");
  const std::string bytes = b.bytes();
  const auto light = parse_onnx(as_bytes(bytes));
  REQUIRE(light.ok());
  const auto& graph = light->proto.graph();
  CHECK(graph.initializer(0).raw_data().empty());
  CHECK(graph.initializer(0).name() == "large");
  CHECK(graph.initializer(0).dims(1) == 1000);
  CHECK(graph.initializer(1).raw_data().size() == 40);
  CHECK(graph.initializer(2).int64_data_size() == 3);
  CHECK(light->proto.ByteSizeLong() < 500);

  const auto whole = parse_onnx(as_bytes(bytes), {.with_weights = true, .strip = {}});
  REQUIRE(whole.ok());
  CHECK(whole->proto.SerializeAsString() == bytes);
}

TEST_CASE("a file of more than 4 GiB is read by its structure") {
  // Two weights of 2.5 GiB each, as holes of a sparse file: no protobuf library reads such a
  // message, and nothing reads the holes.
  const auto varint = [](uint64_t value) {
    std::string out;
    for (; value >= 128; value >>= 7) out += static_cast<char>(value | 128);
    return out + static_cast<char>(value);
  };
  constexpr uint64_t kContent = 2'500ull << 20;
  OnnxBuilder b;
  b.input("a", {"4"});
  b.node("Relu", {"a"}, {"y"}, "relu");
  const std::string nodes = b.graph().SerializeAsString();
  const std::string head = std::string("\x42\x01w\x10\x01", 5) + "\x08" + varint(kContent / 4) +
                           "\x4a" + varint(kContent);  // name, data_type, dims, raw_data
  const uint64_t tensor_bytes = head.size() + kContent;
  const std::string tensor = "\x2a" + varint(tensor_bytes) + head;
  const uint64_t graph_bytes = nodes.size() + 2 * (tensor.size() + kContent);
  const std::string start = std::string("\x08\x08\x3a") + varint(graph_bytes) + nodes;

  const auto path = std::filesystem::temp_directory_path() / "placeto-large-model.onnx";
  std::FILE* file = std::fopen(path.c_str(), "wb");
  REQUIRE(file != nullptr);
  std::fwrite(start.data(), 1, start.size(), file);
  for (int i = 0; i < 2; ++i) {
    std::fwrite(tensor.data(), 1, tensor.size(), file);
    REQUIRE(fseeko(file, static_cast<off_t>(kContent) - 1, SEEK_CUR) == 0);
    std::fputc(0, file);
  }
  std::fclose(file);
  CHECK(std::filesystem::file_size(path) > 4ull << 30);
  const auto model = read_onnx(path.string());
  const auto graph = import_onnx(path.string());
  ImportOptions shorter;
  shorter.max_file_bytes = kContent;
  const auto refused = import_onnx(path.string(), shorter);
  std::filesystem::remove(path);
  CHECK_MESSAGE(graph.ok(), graph.status().message());
  CHECK(refused.status().message().find("is larger than") != std::string::npos);
  REQUIRE_MESSAGE(model.ok(), model.status().message());
  REQUIRE(model->proto.graph().initializer_size() == 2);
  CHECK(model->proto.graph().initializer(1).dims(0) == kContent / 4);
  CHECK(model->node_names == std::vector<std::string>{"relu"});
}

TEST_CASE("damaged files are refused with the byte and the message around it") {
  const std::string bytes = convolutional_model().bytes();
  CHECK(problem(bytes.substr(0, bytes.size() - 10)).find("runs past the end") != std::string::npos);
  CHECK(problem("\x08\x08").find("no graph") != std::string::npos);
  CHECK(problem(field(7, "\xff\xff\xff")).find("byte 2 in graph") != std::string::npos);
  CHECK(problem(field(7, "\x0b")).find("no such field type") != std::string::npos);
  std::string deep;
  for (int i = 0; i < 60; ++i) deep = field(7, "") + field(1, field(5, field(6, deep)));
  CHECK(problem(field(7, deep)).find("nested too deep") != std::string::npos);
  for (size_t n = 0; n < bytes.size(); n += 7) (void)parse_onnx(as_bytes(bytes.substr(0, n)));
}

// Two bytes of a file may be a string, an axis, an attribute: 30 to 250 bytes in memory.
TEST_CASE("a model that would be many times its size in memory is refused while it is read") {
  const auto refused = [](const OnnxBuilder& b) {
    const StripLimits limits{.max_parsed_bytes = 1 << 20};
    const std::string bytes = b.bytes();
    CHECK(parse_onnx(as_bytes(bytes)).ok());
    const auto model = parse_onnx(as_bytes(bytes), {.strip = limits});
    CHECK(model.status().code() == StatusCode::kBadInput);
    return model.status().message();
  };
  const auto contains = [](const std::string& message, const char* part) {
    CHECK_MESSAGE(message.find(part) != std::string::npos, message);
    CHECK_MESSAGE(message.find("more than 1.00 MiB in memory") != std::string::npos, message);
  };
  OnnxBuilder inputs, axes, attributes, nodes, numbers, sequences;
  auto& node = inputs.node("Concat", {}, {"y"});
  for (int i = 0; i < 50'000; ++i) node.add_input("x");
  axes.input("x", {"1"});
  auto* value = axes.graph().add_value_info();
  OnnxBuilder::set_type(*value, "y", Axes(50'000, "2"));
  auto& many = attributes.node("Relu", {"x"}, {"y"});
  for (int i = 0; i < 50'000; ++i) many.add_attribute();
  for (int i = 0; i < 5'000; ++i) nodes.node("Relu", {"x"}, {"y"});
  OnnxBuilder::set(numbers.node("Relu", {"x"}, {"y"}), "axes", std::vector<int64_t>(200'000, 1));
  auto* type = sequences.graph().add_value_info()->mutable_type();
  type = type->mutable_sequence_type()->mutable_elem_type();
  for (int i = 0; i < 50'000; ++i) type->mutable_tensor_type()->mutable_shape()->add_dim();
  contains(refused(inputs), " in graph.node: ");
  contains(refused(axes), " in graph.value_info.type.tensor_type.shape");
  contains(refused(numbers), " in graph.node.attribute: ");
  contains(refused(sequences),
           " in graph.value_info.type.sequence_type.elem_type.tensor_type.shape");
  contains(refused(attributes), " in graph.node");
  contains(refused(nodes), " in graph");
  OnnxBuilder versions, notes, files;
  for (int i = 0; i < 6'000; ++i) versions.model().add_opset_import();
  for (int i = 0; i < 6'000; ++i) notes.model().add_metadata_props();
  auto* weight = files.graph().add_initializer();
  for (int i = 0; i < 6'000; ++i) weight->add_external_data();
  contains(refused(versions), " in opset_import: ");
  contains(refused(notes), " in metadata_props: ");
  contains(refused(files), " in graph.initializer.external_data: ");

  // With weights, what is left out otherwise is parsed, too.
  OnnxBuilder training;
  training.node("Relu", {"x"}, {"y"});
  auto* info = training.model().add_training_info()->mutable_initialization();
  for (int i = 0; i < 50'000; ++i) info->add_node();
  const std::string bytes = training.bytes();
  const StripLimits limits{.max_parsed_bytes = 1 << 20};
  CHECK(parse_onnx(as_bytes(bytes), {.strip = limits}).ok());
  CHECK(!parse_onnx(as_bytes(bytes), {.with_weights = true, .strip = limits}).ok());
}

TEST_CASE("inputs with names or shapes that no engine takes are refused") {
  OnnxBuilder named, shaped, fine;
  named.input(std::string(5'000, 'x'), {"1"});
  shaped.input("x", Axes(65, "n"));
  fine.input(std::string(4'096, 'x'), Axes(64, "n"));
  CHECK(problem(named.bytes()).find("graph.input[0]: has a name of 5000 bytes") !=
        std::string::npos);
  CHECK(problem(shaped.bytes()).find("graph.input[0]: has 65 axes") != std::string::npos);
  CHECK(parse_onnx(as_bytes(fine.bytes())).ok());
}

TEST_CASE("models are told from the other files by their content") {
  CHECK(looks_like_onnx(as_bytes(convolutional_model().bytes())));
  for (const std::string other : {"{\"nodes\": []}", "", "\x08", " \n{}", "PK\x03\x04",
                                  "\x1c\x00\x00\x00PLGR", "node,kind,us"}) {
    CHECK(!looks_like_onnx(as_bytes(other)));
  }
}
