// Makes models/example.onnx, or checks that it is what would be made:
//   placeto_example_model FILE | --check FILE
//
// A small detector with two heads that know nothing of each other, in a batch of free size:
//
//              - 6 x (conv - relu) - class scores
//   x - stem <
//              - 6 x (conv - relu) - boxes
#include <cstdio>
#include <fstream>
#include <iterator>

#include "tests/support/onnx_models.h"

namespace placeto::test {
namespace {

constexpr int64_t kChannels = 16;

// Weights that are small, unlike, and the same everywhere.
class Numbers {
 public:
  std::string floats(size_t count, float scale) {
    std::string bytes;
    for (size_t i = 0; i < count; ++i) {
      state_ = state_ * 1664525 + 1013904223;  // Numerical Recipes, 2nd edition, section 7.1
      const float value = scale * (static_cast<float>(state_ >> 8) / 0x1p23f - 1);
      bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
    }
    return bytes;
  }

 private:
  uint32_t state_ = 1;
};

class Detector {
 public:
  std::string bytes() {
    builder_.graph().set_name("example");
    builder_.model().set_producer_name("placeto");
    builder_.input("image", {"batch", "3", "96", "96"});
    std::string x = convolution("stem/a", "image", 3, 2);
    x = convolution("stem/b", x, kChannels, 2);
    head("scores", x);
    head("boxes", x);
    return builder_.bytes();
  }

 private:
  std::string convolution(const std::string& name, const std::string& x, int64_t channels,
                          int64_t stride) {
    auto& weight = *builder_.graph().add_initializer();
    weight.set_name(name + "/weight");
    weight.set_data_type(onnx::TensorProto::FLOAT);
    for (const int64_t dim : {kChannels, channels, int64_t{3}, int64_t{3}}) weight.add_dims(dim);
    weight.set_raw_data(numbers_.floats(static_cast<size_t>(kChannels * channels * 9), 0.15f));
    auto& conv = builder_.node("Conv", {x, name + "/weight"}, {name + "/y"}, name + "/conv");
    OnnxBuilder::set(conv, "kernel_shape", std::vector<int64_t>{3, 3});
    OnnxBuilder::set(conv, "pads", std::vector<int64_t>{1, 1, 1, 1});
    OnnxBuilder::set(conv, "strides", std::vector<int64_t>{stride, stride});
    builder_.node("Relu", {name + "/y"}, {name + "/r"}, name + "/relu");
    return name + "/r";
  }

  void head(const std::string& name, std::string x) {
    for (int i = 0; i < 6; ++i) {
      x = convolution(name + "/" + std::to_string(i), x, kChannels, 1);
    }
    builder_.node("Sigmoid", {x}, {name}, name + "/sigmoid");
    OnnxBuilder::set_type(*builder_.graph().add_output(), name, {"batch", "16", "24", "24"});
  }

  OnnxBuilder builder_{13};
  Numbers numbers_;
};

int run(const std::string& path, bool check) {
  const std::string bytes = Detector().bytes();
  if (!check)
    return std::ofstream(path, std::ios::binary)
                   .write(bytes.data(), static_cast<std::streamsize>(bytes.size()))
               ? 0
               : 1;
  std::ifstream file(path, std::ios::binary);
  const std::string found{std::istreambuf_iterator<char>(file), {}};
  if (found == bytes) return 0;
  std::fprintf(stderr, "%s is not what this program makes\n", path.c_str());
  return 1;
}

}  // namespace
}  // namespace placeto::test

int main(int argc, char** argv) {
  const bool check = argc == 3 && std::string(argv[1]) == "--check";
  if (argc != 2 && !check) {
    std::fprintf(stderr, "expected: placeto_example_model FILE | --check FILE\n");
    return 2;
  }
  return placeto::test::run(argv[argc - 1], check);
}
