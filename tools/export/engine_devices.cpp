#include "tools/export/engine_devices.h"

#include <string_view>

#include "runtime/graph/text.h"
#include "tools/devices/device_settings.h"
#include "tools/devices/providers.h"
#include "tools/export/module_names.h"

namespace placeto {
namespace {

std::string known_names() {
  return "cpu, gpu, gpu:<ordinal or vendor>, npu, fpga, accelerator or an execution provider: " +
         provider_names() + " or the engine's own name of one, such as CUDAExecutionProvider";
}

// What the engine takes for a name; "" if that is none. It has words for devices and two providers,
// and knows the others by the names that it lists.
std::string engine_name(const std::string& name) {
  const std::string small = in_small_letters(name);
  for (const char* known : {"cpu", "gpu", "npu", "fpga", "cuda", "dml", "accelerator"}) {
    if (small == known) return name;
  }
  if (small.starts_with("gpu:") && small.size() > 4) {
    return small.find_first_of("();,= ") == std::string::npos ? name : "";
  }
  const Provider* provider = find_provider(name);
  return provider == nullptr ? "" : provider->listed;
}

// Whether rules for both names can mean the same execution provider. "gpu" is whichever GPU
// provider comes first, and ordinals are looked up among the instances of a session, of which there
// is one per provider.
bool may_share_provider(const std::string& a, const std::string& b) {
  const auto general = [](const std::string& name) {
    const Provider* provider = find_provider(name);
    if (provider == nullptr) return in_small_letters(kind_in_name(name));
    if (std::string_view(provider->devices) == "npu") return std::string("npu");
    return provider_named(provider->listed);
  };
  const std::string x = general(a), y = general(b);
  if (x == y) return true;
  const auto is_gpu = [](const std::string& name) {
    return name == "gpu" || name == "cuda" || name == "directml";
  };
  if (x == "gpu" || y == "gpu") return is_gpu(x) && is_gpu(y);
  return (x == "accelerator" && y != "cpu") || (y == "accelerator" && x != "cpu");
}

}  // namespace

Result<std::vector<std::string>> engine_devices(const Placed& placed,
                                                std::span<const std::string> given) {
  const std::vector<bool> used = used_devices(placed);
  std::vector<std::string> names(placed.devices.size());
  for (size_t d = 0; d < names.size(); ++d) {
    if (!used[d]) continue;
    const std::string& device = placed.devices[d];
    if (!given.empty()) names[d] = given[d];
    if (names[d].empty()) names[d] = in_small_letters(kind_in_name(device));
    const std::string engine = engine_name(names[d]);
    if (engine.empty()) {
      return Status::invalid("the engine knows no device " + in_quotes(names[d]) + " for " +
                             in_quotes(device) + ", expected " + known_names() +
                             ": see --engine-device");
    }
    names[d] = engine;
    for (size_t e = 0; e < d; ++e) {
      if (!used[e] || !may_share_provider(names[d], names[e])) continue;
      return Status::invalid(in_quotes(placed.devices[e]) + " (" + names[e] + ") and " +
                             in_quotes(device) + " (" + names[d] +
                             ") would share an execution provider, and a session has one instance "
                             "of each: make one model per device with --split");
    }
  }
  return names;
}

Result<std::vector<std::string>> numbered_devices(const Placed& placed,
                                                  std::span<const std::string> given,
                                                  const std::string& cpu, const std::string& gpu,
                                                  const std::string& counterpart) {
  std::vector<std::string> names(placed.devices.size());
  const std::vector<bool> used = used_devices(placed);
  for (size_t d = 0; d < names.size(); ++d) {
    const std::string& device = placed.devices[d];
    std::string& name = names[d];
    if (!given.empty()) name = given[d];
    if (name.empty() && kind_in_name(device) == "cpu") name = cpu;
    if (name.empty() && device == "gpu") name = gpu + "0";
    if (name.empty() && device.starts_with("gpu:") && is_number(device.substr(4))) {
      name = gpu + device.substr(4);
    }
    if (name.empty() && used[d]) {
      return Status::invalid("there is no " + counterpart + " device " + in_quotes(device) +
                             ": give one with --engine-device " + device + "=NAME");
    }
  }
  return names;
}

}  // namespace placeto
