// Weights in files beside a model: what an export copies of them, and what it refuses.
#include "tests/unit/export_fixture.h"
#include "tools/export/external_data.h"
#include "tools/export/onnx_export.h"

namespace placeto {
namespace {

namespace fs = std::filesystem;
using test::Folder;
using test::OnnxBuilder;
using test::pair_model;
using test::placed_pair;

// pair_model with w in a file.
OnnxBuilder external_model(const std::string& location, const std::string& offset) {
  OnnxBuilder b = pair_model();
  auto& weight = *b.graph().mutable_initializer(0);
  weight.clear_raw_data();
  weight.set_data_location(onnx::TensorProto::EXTERNAL);
  for (const auto& [key, value] : {std::pair<std::string, std::string>{"location", location},
                                   {"offset", offset},
                                   {"length", "16"}}) {
    auto* entry = weight.add_external_data();
    entry->set_key(key);
    entry->set_value(value);
  }
  return b;
}

TEST_CASE("each stage gets a file with the external data that it reads") {
  const Folder folder;
  fs::create_directory(folder.path("data"));
  folder.write("data/w.bin", "--0123456789abcdef--");
  folder.write("m.onnx", external_model("data/w.bin", "2").bytes());
  auto model = PlacedModel::read(folder.path("m.onnx"), placed_pair());
  REQUIRE_MESSAGE(model.ok(), model.status().message());
  const auto summary = model->write_stages(folder.path("out"), StageRule::kFewest);
  REQUIRE_MESSAGE(summary.ok(), summary.status().message());
  for (const std::string stage : {"stage_0.onnx", "stage_1.onnx"}) {
    CHECK(folder.read("out/" + stage + ".data") == "0123456789abcdef");
    onnx::ModelProto proto;
    REQUIRE(proto.ParseFromString(folder.read("out/" + stage)));
    CHECK(proto.graph().initializer(0).external_data(0).value() == stage + ".data");
  }
  const std::vector<std::string> engine = {"cpu", "gpu"};
  CHECK_FALSE(model->annotated(folder.path("out/a.onnx"), engine).ok());
  CHECK_FALSE(model->annotated("-", engine).ok());
  CHECK(model->annotated(folder.path("a.onnx"), engine).ok());
}

TEST_CASE(
    "external data outside of the folder or beyond its file is refused, and nothing is left") {
  const Folder folder;
  folder.write("w.bin", "0123456789abcdef");
  for (const auto& [location, offset] : {std::pair<std::string, std::string>{"../w.bin", "0"},
                                         {"/etc/passwd", "0"},
                                         {"w.bin", "1"},
                                         {"w.bin", "-1"},
                                         {"none.bin", "0"},
                                         {"w.bin", "18446744073709551615"}}) {
    folder.write("m.onnx", external_model(location, offset).bytes());
    const auto model = PlacedModel::read(folder.path("m.onnx"), placed_pair());
    REQUIRE_MESSAGE(model.ok(), model.status().message());
    CHECK_FALSE(model->write_stages(folder.path("out"), StageRule::kFewest).ok());
    CHECK(folder.size() == 2);
  }
}

TEST_CASE("external data must have as many bytes as its tensor, and a name that a file can have") {
  const Folder folder;
  const auto write = [&](const OnnxBuilder& b) {
    folder.write("m.onnx", b.bytes());
    const auto model = PlacedModel::read(folder.path("m.onnx"), placed_pair());
    REQUIRE_MESSAGE(model.ok(), model.status().message());
    const auto written = model->write_stages(folder.path("out"), StageRule::kFewest);
    CHECK(!fs::exists(folder.path("out")));
    CHECK(written.status().code() == StatusCode::kBadInput);
    return written.status().message();
  };
  folder.write("w.bin", "0123456789abcdef");
  OnnxBuilder b = external_model("w.bin", "0");
  b.graph().mutable_initializer(0)->mutable_external_data(2)->set_value("4");
  CHECK(write(b).find("length is 4, expected 16") != std::string::npos);
  b.graph().mutable_initializer(0)->mutable_external_data()->RemoveLast();
  folder.write("w.bin", "01234");
  CHECK(write(b).find("has 5 bytes, expected at least 0 + 16") != std::string::npos);
  CHECK(write(external_model(std::string("w.bin\0x", 7), "0")).find("NUL") != std::string::npos);
  CHECK(write(external_model("none.bin", "0")).find("none.bin") != std::string::npos);
  CHECK(write(external_model(".", "0")).find("is no file") != std::string::npos);
  for (const int64_t dim : {int64_t{-4}, int64_t{1} << 61}) {
    OnnxBuilder odd = external_model("w.bin", "0");
    odd.graph().mutable_initializer(0)->set_dims(0, dim);
    odd.graph().mutable_initializer(0)->mutable_external_data()->RemoveLast();
    CHECK(write(odd).find("dimensions are negative or too large") != std::string::npos);
  }
}

// w is split among so many tensors, each `length` bytes from `offset`.
std::string sharing_model(int tensors, const std::string& location) {
  OnnxBuilder b = external_model(location, "0");
  auto& graph = b.graph();
  for (int i = 0; i < tensors; ++i) {
    onnx::TensorProto copy = graph.initializer(0);
    const std::string name = "w" + std::to_string(i);
    copy.set_name(name);
    copy.mutable_external_data(1)->set_value(std::to_string(i % 3));  // offset
    copy.mutable_external_data(2)->set_value("12");
    copy.set_dims(0, 3);
    *graph.add_initializer() = copy;
    for (auto& node : *graph.mutable_node()) {
      if (node.name() == "b1") node.add_input(name);
    }
  }
  return b.bytes();
}

TEST_CASE("a link that leads out of the model's folder is refused, and one within is followed") {
  const Folder folder, outside;
  outside.write("secret", "0123456789abcdef");
  folder.write("real.bin", "0123456789abcdef");
  fs::create_symlink(outside.path("secret"), folder.path("w.bin"));
  folder.write("m.onnx", external_model("w.bin", "0").bytes());
  const auto model = PlacedModel::read(folder.path("m.onnx"), placed_pair());
  REQUIRE_MESSAGE(model.ok(), model.status().message());
  const auto refused = model->write_stages(folder.path("out"), StageRule::kFewest);
  CHECK(refused.status().message().find("symbolic link") != std::string::npos);
  CHECK(folder.size() == 3);
  fs::remove(folder.path("w.bin"));
  fs::create_symlink("real.bin", folder.path("w.bin"));
  CHECK(model->write_stages(folder.path("out"), StageRule::kFewest).ok());
}

TEST_CASE("a cache that links to a folder with model and weights exports") {
  const Folder cache, links;
  cache.write("1234", external_model("w.bin", "0").bytes());
  cache.write("5678", "0123456789abcdef");
  fs::create_symlink(cache.path("1234"), links.path("m.onnx"));
  fs::create_symlink(cache.path("5678"), links.path("w.bin"));
  const auto model = PlacedModel::read(links.path("m.onnx"), placed_pair());
  REQUIRE_MESSAGE(model.ok(), model.status().message());
  CHECK(model->write_stages(links.path("out"), StageRule::kFewest).ok());
}

TEST_CASE("tensors that share bytes are copied once, and overlapping ones are bounded") {
  const Folder folder;
  folder.write("w.bin", "0123456789abcdef");
  folder.write("shared.onnx", sharing_model(2, "w.bin"));
  const auto shared = PlacedModel::read(folder.path("shared.onnx"), placed_pair());
  REQUIRE_MESSAGE(shared.ok(), shared.status().message());
  const auto refused = shared->write_stages(folder.path("none"), StageRule::kFewest);
  CHECK(refused.status().message().find("do not overlap") != std::string::npos);
  CHECK(!fs::exists(folder.path("none")));
  // The same 12 bytes a thousand times, in a file that has room for another 16.
  folder.write("w.bin", std::string(60, 'w'));
  folder.write("often.onnx", sharing_model(1000, "w.bin"));
  const auto often = PlacedModel::read(folder.path("often.onnx"), placed_pair());
  REQUIRE_MESSAGE(often.ok(), often.status().message());
  const auto written = often->write_stages(folder.path("out"), StageRule::kFewest);
  REQUIRE_MESSAGE(written.ok(), written.status().message());
  CHECK(fs::file_size(folder.path("out/stage_1.onnx.data")) < 100);
  CHECK(fs::file_size(folder.path("out/stage_1.onnx.data")) >= 16 + 12);
}

TEST_CASE("a file that tensors call by several names counts once, and is copied once") {
  const Folder folder;
  folder.write("w.bin", "0123456789abcdef");
  fs::create_symlink("w.bin", folder.path("soft"));
  fs::create_hard_link(folder.path("w.bin"), folder.path("hard"));
  const std::vector<std::string> names = {"w.bin", "./w.bin", "././w.bin", "soft", "hard"};
  OnnxBuilder b = external_model("w.bin", "0");
  const auto write = [&](const std::string& out) {
    folder.write("m.onnx", b.bytes());
    const auto model = PlacedModel::read(folder.path("m.onnx"), placed_pair());
    REQUIRE_MESSAGE(model.ok(), model.status().message());
    return model->write_stages(folder.path(out), StageRule::kFewest).status();
  };
  const auto add = [&](const std::string& location, int64_t floats) {
    onnx::TensorProto tensor = b.graph().initializer(0);
    tensor.set_name("w" + std::to_string(b.graph().initializer_size()));
    tensor.mutable_external_data(0)->set_value(location);
    tensor.mutable_external_data(2)->set_value(std::to_string(4 * floats));
    tensor.set_dims(0, floats);
    for (auto& node : *b.graph().mutable_node()) {
      if (node.name() == "b1") node.add_input(tensor.name());
    }
    *b.graph().add_initializer() = std::move(tensor);
  };
  for (const std::string& name : names) add(name, 4);
  const Status same = write("same");
  REQUIRE_MESSAGE(same.ok(), same.message());
  CHECK(folder.read("same/stage_1.onnx.data") == "0123456789abcdef");
  for (const std::string& name : names) add(name, 3);
  CHECK(write("parts").message().find("do not overlap") != std::string::npos);
}

// w as the value of a Constant node: sparse, or what a function gives an attribute that no call
// gives it.
OnnxBuilder hidden_model(const std::string& location, bool sparse) {
  OnnxBuilder b = external_model(location, "0");
  onnx::TensorProto weight = b.graph().initializer(0);
  b.graph().clear_initializer();
  onnx::AttributeProto value;
  if (sparse) {
    value.set_name("sparse_value");
    value.set_type(onnx::AttributeProto::SPARSE_TENSOR);
    auto& entries = *value.mutable_sparse_tensor();
    *entries.mutable_values() = weight;
    entries.add_dims(4);
    auto& indices = *entries.mutable_indices();
    indices.set_data_type(onnx::TensorProto::INT64);
    indices.add_dims(4);
    for (int64_t i = 0; i < 4; ++i) indices.add_int64_data(i);
    *b.node("Constant", {}, {"w"}).add_attribute() = value;
    return b;
  }
  auto* function = b.model().add_functions();
  function->set_name("Make");
  function->set_domain("local");
  function->add_output("w");
  function->add_opset_import()->set_version(17);
  auto& reference = *function->add_node();
  reference.set_op_type("Constant");
  reference.add_output("w");
  auto& attribute = *reference.add_attribute();
  attribute.set_name("value");
  attribute.set_type(onnx::AttributeProto::TENSOR);
  attribute.set_ref_attr_name("own");
  value.set_name("own");
  value.set_type(onnx::AttributeProto::TENSOR);
  *value.mutable_t() = weight;
  constexpr int kDefaults = 11;  // attribute_proto, which libonnx 1.12 does not know
  function->GetReflection()->MutableUnknownFields(function)->AddLengthDelimited(
      kDefaults, value.SerializeAsString());
  b.node("Make", {}, {"w"}, "make").set_domain("local");
  return b;
}

TEST_CASE("weights in a sparse constant, and in what a function gives its attributes, are copied") {
  for (const bool sparse : {true, false}) {
    CAPTURE(sparse);
    const Folder folder;
    folder.write("w.bin", "0123456789abcdef");
    const auto write = [&](const std::string& location) {
      folder.write("m.onnx", hidden_model(location, sparse).bytes());
      CHECK(external_files(folder.path("m.onnx")).size() == 1);
      Placed placed = placed_pair();
      if (!sparse) placed.nodes.push_back({"make", "Make", 0, 0});
      const auto model = PlacedModel::read(folder.path("m.onnx"), placed);
      REQUIRE_MESSAGE(model.ok(), model.status().message());
      return model->write_stages(folder.path("out"), StageRule::kFewest).status();
    };
    CHECK(write("../w.bin").message().find("within the folder") != std::string::npos);
    const Status written = write("w.bin");
    REQUIRE_MESSAGE(written.ok(), written.message());
    std::string weights;
    for (const std::string stage : {"stage_0.onnx", "stage_1.onnx"}) {
      if (!fs::exists(folder.path("out/" + stage + ".data"))) continue;
      weights = folder.read("out/" + stage + ".data");
      CHECK(folder.read("out/" + stage).find(stage + ".data") != std::string::npos);
    }
    CHECK(weights == "0123456789abcdef");
  }
}

// b1 reads so many weights more, each of `floats`, from one place after another.
std::string crumbled_model(int tensors, int floats) {
  OnnxBuilder b = external_model("w.bin", "0");
  auto& graph = b.graph();
  for (int i = 0; i < tensors; ++i) {
    onnx::TensorProto copy = graph.initializer(0);
    copy.set_name("w" + std::to_string(i));
    copy.mutable_external_data(1)->set_value(std::to_string(4 * floats * i));
    copy.mutable_external_data(2)->set_value(std::to_string(4 * floats));
    copy.set_dims(0, floats);
    for (auto& node : *graph.mutable_node()) {
      if (node.name() == "b1") node.add_input(copy.name());
    }
    *graph.add_initializer() = std::move(copy);
  }
  return b.bytes();
}

TEST_CASE("padding between external tensors takes little, and large ones begin at a page") {
  const Folder folder;
  const auto size_of_stage = [&](int tensors, int floats) {
    folder.write("w.bin", std::string(static_cast<size_t>(4 * floats * tensors + 16), 'w'));
    folder.write("m.onnx", crumbled_model(tensors, floats));
    const auto model = PlacedModel::read(folder.path("m.onnx"), placed_pair());
    REQUIRE_MESSAGE(model.ok(), model.status().message());
    const auto written = model->write_stages(folder.path("out"), StageRule::kFewest);
    REQUIRE_MESSAGE(written.ok(), written.status().message());
    const auto bytes = fs::file_size(folder.path("out/stage_1.onnx.data"));
    fs::remove_all(folder.path("out"));
    return bytes;
  };
  CHECK(size_of_stage(1000, 1) == 16 + 4 * 1000);
  CHECK(size_of_stage(100, 3) <= 16 + 16 * 100);
  CHECK(size_of_stage(3, 1025) == 4096 + 2 * 8192 + 4100);
}

}  // namespace
}  // namespace placeto
