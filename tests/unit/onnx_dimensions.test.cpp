// Numbers for free dimensions: how they are written, and which count.
#include "tools/onnx/dimensions.h"

#include <doctest/doctest.h>

#include "tests/support/text.h"
#include "tests/support/thread_time.h"
#include "tests/unit/onnx_fixture.h"

using namespace placeto;
using namespace placeto::test;

TEST_CASE("a dimension is set by a name and a whole number that an axis may have") {
  for (const char* text : {"batch", "batch=", "=1", "batch=0", "batch=-1", "batch=1.5", "b=1x"}) {
    CHECK(!parse_dim_setting(text).ok());
  }
  CHECK(parse_dim_setting("a=b=12")->name == "a=b");
}

TEST_CASE("numbers that are given take the place of those recorded for the same axes") {
  const std::vector<DimSetting> recorded{{"batch", 1}, {"a=b", 2}, {"x[1]", 3}, {"*", 4}};
  const auto name_of_axis = [](const std::string& place) -> std::optional<std::string> {
    if (place == "y[0]") return std::nullopt;
    return place == "x[0]" ? "batch" : place == "x[1]" ? "seq" : "";
  };
  const auto merged = [&](const char* name) {
    std::string texts;
    for (const DimSetting& dim :
         merged_dims(recorded, std::vector<DimSetting>{{name, 9}}, name_of_axis)) {
      texts += dim_text(dim) + " ";
    }
    return texts;
  };
  CHECK(merged("batch") == "batch=9 a=b=2 x[1]=3 *=4 ");
  CHECK(merged("*") == "*=9 ");
  CHECK(merged("x[0]") == "x[0]=9 a=b=2 x[1]=3 *=4 ");
  CHECK(merged("seq") == "seq=9 batch=1 a=b=2 *=4 ");
  CHECK(merged("x[2]") == "x[2]=9 batch=1 a=b=2 x[1]=3 *=4 ");
  CHECK(merged("y[0]") == "y[0]=9 x[1]=3 *=4 ");  // which may be any name's
}

TEST_CASE("two numbers for one axis are one too many, whatever the axis is called") {
  test::OnnxBuilder b;
  b.input("x", {"batch", "4"});
  b.input("y", {"batch", "4"});
  b.node("Add", {"x", "y"}, {"z"});
  const std::string message =
      test::refusal(b, StatusCode::kInvalidArgument, {{"x[0]", 1}, {"x[0]", 2}});
  CHECK(message.find("another one sets the same") != std::string::npos);
}

// Both come from files that others wrote: a placement records the settings. Each axis looked
// through all of them.
TEST_CASE("many settings and a tensor of many axes take the time of both together") {
  OnnxBuilder b;
  const int axes = 100'000;
  b.input("x", {"n"});
  for (int i = 0; i < axes; ++i) {
    auto* shape = b.graph().mutable_input(0)->mutable_type()->mutable_tensor_type();
    shape->mutable_shape()->add_dim()->set_dim_param("s" + std::to_string(i));
  }
  std::vector<DimSetting> settings = {{"n", 1}, {"*", 2}};
  for (int i = 0; i < axes; ++i) settings.push_back({"y" + std::to_string(i), 3, true});
  const double begin = thread_ms();
  CHECK(set_dimensions(b.model(), settings).ok());
  CHECK(thread_ms() - begin < 20'000);  // once minutes
  const auto& shape = b.graph().input(0).type().tensor_type().shape();
  CHECK(shape.dim(0).dim_value() == 1);
  CHECK(shape.dim(axes).dim_value() == 2);
}

TEST_CASE("a setting of no dimension is refused with a few of the names that there are") {
  OnnxBuilder b;
  Axes axes;
  for (char c = 'a'; c <= 'z'; ++c) axes.emplace_back(1, c);
  b.input("x", axes);
  const DimSetting setting{"batch", 1};
  const Status status = set_dimensions(b.model(), {&setting, 1});
  CHECK_MESSAGE(contains(status.message(), "expected one of 'a', 'b'"), status.message());
  CHECK_MESSAGE(status.message().ends_with("'h', ..."), status.message());
}
