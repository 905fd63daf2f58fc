// The functions are declared here as NVML's documentation gives them, so that its header is not
// needed to build.
#include "tools/machine/nvidia.h"

#include <dlfcn.h>

#include <algorithm>
#include <cctype>

namespace placeto {
namespace {

using Device = void*;
struct Memory {
  unsigned long long total, free, used;
};
struct PciInfo {  // nvmlPciInfo_t of nvmlDeviceGetPciInfo_v3
  char legacy_bus_id[16];
  unsigned domain, bus, device, pci_device_id, pci_subsystem_id;
  char bus_id[32];
};
constexpr unsigned kSmClock = 1, kMemoryClock = 2;
constexpr int kSuccess = 0;

class Library {
 public:
  Library() : handle_(dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL)) {
    started_ = call("nvmlInit_v2");
  }
  Library(const Library&) = delete;
  ~Library() {
    if (started_) call("nvmlShutdown");
    if (handle_ != nullptr) dlclose(handle_);
  }
  bool started() const { return started_; }

  template <class... Arguments>
  bool call(const char* name, Arguments... arguments) const {
    if (handle_ == nullptr) return false;
    const auto function = reinterpret_cast<int (*)(Arguments...)>(dlsym(handle_, name));
    return function != nullptr && function(arguments...) == kSuccess;
  }

 private:
  void* handle_;
  bool started_ = false;
};

// The library writes eight digits of the domain and capitals, the kernel four and small letters.
std::string kernel_address(std::string address) {
  if (const size_t colon = address.find(':'); colon == 8) address.erase(0, 4);
  std::transform(address.begin(), address.end(), address.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return address;
}

}  // namespace

std::vector<NvidiaDevice> nvidia_devices() {
  std::vector<NvidiaDevice> devices;
  const Library library;
  unsigned count = 0;
  if (!library.started() || !library.call("nvmlDeviceGetCount_v2", &count)) return devices;
  for (unsigned i = 0; i < count; ++i) {
    Device device = nullptr;
    PciInfo pci{};
    if (!library.call("nvmlDeviceGetHandleByIndex_v2", i, &device)) continue;
    if (!library.call("nvmlDeviceGetPciInfo_v3", device, &pci)) continue;
    NvidiaDevice found;
    found.address = kernel_address(pci.bus_id);
    char name[96] = "";
    if (library.call("nvmlDeviceGetName", device, name, unsigned{sizeof name})) found.name = name;
    Memory memory{};
    if (library.call("nvmlDeviceGetMemoryInfo", device, &memory)) found.memory_bytes = memory.total;
    unsigned cores = 0, clock = 0, bus = 0;
    if (library.call("nvmlDeviceGetNumGpuCores", device, &cores) &&
        library.call("nvmlDeviceGetMaxClockInfo", device, kSmClock, &clock)) {
      found.peak_flops = 2.0 * cores * clock * 1e6;
    }
    if (library.call("nvmlDeviceGetMemoryBusWidth", device, &bus) &&
        library.call("nvmlDeviceGetMaxClockInfo", device, kMemoryClock, &clock)) {
      found.memory_bandwidth = 2.0 * bus / 8 * clock * 1e6;
    }
    devices.push_back(std::move(found));
  }
  return devices;
}

}  // namespace placeto
