// DEVICE=VALUE: which devices are meant.
#include <doctest/doctest.h>

#include "tools/devices/device_settings.h"

namespace placeto {
namespace {

using Texts = std::vector<std::string>;

Texts values(const DeviceNames& devices, const Texts& texts) {
  const auto result = device_settings(devices, texts);
  REQUIRE_MESSAGE(result.ok(), result.status().message());
  return *result;
}

TEST_CASE("a setting is for a device, a kind, or what names begin with") {
  const DeviceNames host{{"cpu:0", "node1:gpu:0", "node1:gpu:1", "gpu:9"},
                         {"cpu", "gpu", "gpu", "npu"}};
  CHECK(values(host, {}) == Texts{"", "", "", ""});
  CHECK(values(host, {"cpu:0=a"}) == Texts{"a", "", "", ""});
  CHECK(values(host, {"npu=a"}) == Texts{"", "", "", "a"});
  CHECK(values(host, {"node1=a"}) == Texts{"", "a", "a", ""});
  CHECK(values(host, {"node1:gpu=a"}) == Texts{"", "a", "a", ""});
  CHECK(values(host, {"gpu=a"}) == Texts{"", "a", "a", "a"});
}

TEST_CASE("a name goes before a kind and that before a beginning, of the same sort the last") {
  const DeviceNames host{{"gpu:0", "gpu:1"}, {"npu", "npu"}};
  for (const Texts& texts : {Texts{"gpu:0=a", "npu=b", "gpu=c"}, Texts{"gpu=c", "npu=b", "gpu:0=a"},
                             Texts{"gpu:0=x", "npu=x", "gpu=c", "npu=b", "gpu:0=a"}}) {
    CHECK(values(host, texts) == Texts{"a", "b"});
  }
}

TEST_CASE("where only names are known, what stands before the colon is the kind") {
  const DeviceNames host{{"cpu:0", "gpu:0", "a=b:1", "gpu10"}};
  CHECK(values(host, {"gpu=cuda"}) == Texts{"", "cuda", "", ""});
  CHECK(values(host, {"a=b=cuda"}) == Texts{"", "", "cuda", ""});
  CHECK(kind_in_name("gpu:0") == "gpu");
  CHECK(kind_in_name("gpu") == "gpu");
}

TEST_CASE("a setting of another form, or for no device, is refused with what there is") {
  const DeviceNames host{{"cpu:0", "left"}, {"cpu", "gpu"}};
  for (const char* text : {"cpu", "=a", "cpu=", "", "=", "npu=a", "cpu:1=a", "cpu:=a", "CPU=a"}) {
    const auto result = device_settings(host, Texts{"cpu=a", text});
    REQUIRE_MESSAGE(!result.ok(), text);
    CHECK(result.status().message() == "'" + std::string(text) +
                                           "': expected DEVICE=VALUE with a kind or a device of "
                                           "cpu:0 (cpu), left (gpu)");
  }
}

}  // namespace
}  // namespace placeto
