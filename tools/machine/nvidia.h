// What NVIDIA's management library says of its devices, where it is installed: it is loaded when
// asked for, and nothing is linked.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace placeto {

struct NvidiaDevice {
  std::string address;  // on the PCI bus, as the kernel writes it
  std::string name;
  uint64_t memory_bytes = 0;
  double peak_flops = 0;        // float32, without tensor cores: cores x 2 x clock; 0: not known
  double memory_bandwidth = 0;  // bytes per second: bus x 2 x clock; 0: not known
};

// Empty without the library or without devices.
std::vector<NvidiaDevice> nvidia_devices();

}  // namespace placeto
