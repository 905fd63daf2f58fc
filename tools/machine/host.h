// What this host has: processors, memory, accelerators, as the kernel's files say. Nothing is
// measured and nothing is run.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace placeto {

struct Processors {
  std::string model;
  uint32_t logical = 0;          // that this process may run on
  uint32_t cores = 0;            // of those, distinct
  double usable = 0;             // by the control group's quota; = logical without one
  double frequency_hz = 0;       // highest that is known; 0: none is
  uint32_t flops_per_cycle = 0;  // of one core in float32, by its instruction sets: fused
                                 // multiply-adds on two ports; 0: not known
  uint64_t cache_bytes = 0;      // the largest
  uint32_t numa_nodes = 1;
};

struct Accelerator {
  std::string kind;              // gpu, npu
  std::string name;              // as its vendor calls it, else its PCI numbers
  std::string vendor;            // nvidia, amd, intel, or the PCI number
  std::string address;           // on the PCI bus
  uint64_t memory_bytes = 0;     // 0: not known
  double link_bytes_per_us = 0;  // of its slot, one direction; 0: not known
};

struct Host {
  std::string name;
  Processors processors;
  uint64_t memory_bytes = 0;  // that this process may use
  std::vector<Accelerator> accelerators;
};

// `root` stands before /proc and /sys, so that tests can describe hosts that are not there.
Host read_host(const std::string& root = "");

}  // namespace placeto
