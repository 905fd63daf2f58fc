#include "tools/machine/host.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <utility>

namespace placeto {
namespace {

namespace fs = std::filesystem;

std::string read_line(const fs::path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

std::string trimmed(const std::string& text) {
  const size_t begin = text.find_first_not_of(" \t\n");
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find_last_not_of(" \t\n") - begin + 1);
}

// What stands behind "KEY :" in a line that begins so.
bool value_of(const std::string& line, const char* key, std::string& value) {
  const size_t colon = line.find(':');
  if (colon == std::string::npos || trimmed(line.substr(0, colon)) != key) return false;
  value = trimmed(line.substr(colon + 1));
  return true;
}

double number(const std::string& text) {
  return std::strtod(text.c_str(), nullptr);
}

// "32K", "105M": sizes of caches.
uint64_t cache_size(const std::string& text) {
  char* end = nullptr;
  const double size = std::strtod(text.c_str(), &end);
  const double unit = *end == 'K' ? 1024 : *end == 'M' ? 1024.0 * 1024 : 1;
  return static_cast<uint64_t>(size * unit);
}

// Entries of a directory by name, so that the answer does not depend on its order.
std::vector<fs::path> entries(const fs::path& directory) {
  std::error_code error;
  std::vector<fs::path> paths;
  for (const auto& entry : fs::directory_iterator(directory, error)) paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  return paths;
}

// Peak of common cores: 2 operations in each of the lanes, on two ports.
uint32_t flops_per_cycle(const std::string& flags) {
  const std::string padded = " " + flags + " ";
  const auto has = [&](const char* flag) {
    return padded.find(std::string(" ") + flag + " ") != std::string::npos;
  };
  if (has("avx512f")) return 64;
  if (has("avx2") && has("fma")) return 32;
  if (has("avx") || has("asimd")) return 16;
  return 8;
}

// "0-3,7": of processors. Without such a list all are meant.
class ProcessorList {
 public:
  explicit ProcessorList(const std::string& text) {
    std::istringstream parts(text);
    for (std::string part; std::getline(parts, part, ',');) {
      char* end = nullptr;
      const uint64_t first = std::strtoull(part.c_str(), &end, 10);
      ranges_.emplace_back(first, *end == '-' ? std::strtoull(end + 1, nullptr, 10) : first);
    }
  }
  bool has(uint64_t processor) const {
    return ranges_.empty() || std::any_of(ranges_.begin(), ranges_.end(), [&](const auto& range) {
             return range.first <= processor && processor <= range.second;
           });
  }
  bool meets(const ProcessorList& other) const {
    const auto meets_range = [&](const auto& range) {
      return std::any_of(other.ranges_.begin(), other.ranges_.end(), [&](const auto& with) {
        return range.first <= with.second && with.first <= range.second;
      });
    };
    return ranges_.empty() || other.ranges_.empty() ||
           std::any_of(ranges_.begin(), ranges_.end(), meets_range);
  }

 private:
  std::vector<std::pair<uint64_t, uint64_t>> ranges_;  // both ends are in
};

// Those that this process may run on, by its affinity and the sets of its control groups.
ProcessorList allowed_processors(const std::string& root) {
  std::ifstream file(root + "/proc/self/status");
  for (std::string line, value; std::getline(file, line);) {
    if (value_of(line, "Cpus_allowed_list", value)) return ProcessorList(value);
  }
  return ProcessorList("");
}

void read_cpuinfo(const std::string& root, const ProcessorList& allowed, Processors& processors) {
  std::ifstream file(root + "/proc/cpuinfo");
  std::set<std::string> cores;
  std::string package = "0";
  bool is_allowed = true;
  for (std::string line, value; std::getline(file, line);) {
    if (value_of(line, "processor", value)) {
      is_allowed = allowed.has(std::strtoull(value.c_str(), nullptr, 10));
      processors.logical += is_allowed ? 1 : 0;
    }
    if (value_of(line, "model name", value)) processors.model = value;
    if (value_of(line, "physical id", value)) package = value;
    if (value_of(line, "core id", value) && is_allowed) cores.insert(package + "/" + value);
    if (value_of(line, "cpu MHz", value)) {
      processors.frequency_hz = std::max(processors.frequency_hz, number(value) * 1e6);
    }
    if (value_of(line, "flags", value) || value_of(line, "Features", value)) {
      processors.flops_per_cycle = flops_per_cycle(value);
    }
  }
  processors.cores = cores.empty() ? processors.logical : static_cast<uint32_t>(cores.size());
}

void read_quota(const std::string& root, Host& host) {
  Processors& processors = host.processors;
  processors.usable = processors.logical;
  const fs::path groups = root + "/sys/fs/cgroup";
  std::istringstream quota(read_line(groups / "cpu.max"));
  std::string share;
  double period = 0;
  if (!(quota >> share >> period)) {  // the first version of control groups: -1 for no limit
    share = read_line(groups / "cpu/cpu.cfs_quota_us");
    period = number(read_line(groups / "cpu/cpu.cfs_period_us"));
  }
  if (share != "max" && number(share) > 0 && period > 0) {
    processors.usable = std::min(processors.usable, number(share) / period);
  }
  for (const char* file : {"memory.max", "memory/memory.limit_in_bytes"}) {
    const std::string limit = read_line(groups / file);
    if (limit.empty() || limit == "max") continue;
    const uint64_t bytes = std::strtoull(limit.c_str(), nullptr, 10);
    host.memory_bytes = std::min(host.memory_bytes, bytes);
  }
}

void read_processors(const std::string& root, Host& host) {
  const ProcessorList allowed = allowed_processors(root);
  read_cpuinfo(root, allowed, host.processors);
  const fs::path system = root + "/sys/devices/system";
  const double khz = number(read_line(system / "cpu/cpu0/cpufreq/cpuinfo_max_freq"));
  host.processors.frequency_hz = std::max(host.processors.frequency_hz, khz * 1e3);
  for (const fs::path& cache : entries(system / "cpu/cpu0/cache")) {
    host.processors.cache_bytes =
        std::max(host.processors.cache_bytes, cache_size(read_line(cache / "size")));
  }
  uint32_t nodes = 0;
  for (const fs::path& node : entries(system / "node")) {
    const std::string name = node.filename().string();
    const bool is_node = name.starts_with("node") && name.size() > 4 && std::isdigit(name[4]) != 0;
    if (!is_node) continue;
    const std::string processors = read_line(node / "cpulist");  // empty: memory alone
    if (!processors.empty() && ProcessorList(processors).meets(allowed)) ++nodes;
  }
  host.processors.numa_nodes = std::max(1u, nodes);
}

uint64_t read_memory(const std::string& root) {
  std::ifstream file(root + "/proc/meminfo");
  for (std::string line, value; std::getline(file, line);) {
    if (value_of(line, "MemTotal", value)) return static_cast<uint64_t>(number(value)) * 1024;
  }
  return 0;
}

// GT/s of a lane times lanes, less what the encoding takes: 8 of 10 bits up to 5 GT/s, then 128 of
// 130.
double slot_bytes_per_us(const fs::path& device) {
  const double gigatransfers = number(read_line(device / "max_link_speed"));
  const double lanes = number(read_line(device / "max_link_width"));
  const double coding = gigatransfers > 5 ? 128.0 / 130 : 0.8;
  return gigatransfers * 1e9 * lanes * coding / 8 / 1e6;
}

std::string vendor_name(const std::string& id) {
  if (id == "0x10de") return "nvidia";
  if (id == "0x1002") return "amd";
  if (id == "0x8086") return "intel";
  return id;
}

// Classes of PCI devices: 03 display, 12 processing accelerators. Of displays, those that compute.
std::string kind_of(const std::string& device_class, const std::string& vendor) {
  if (device_class.starts_with("0x12")) return "npu";
  const bool computes = vendor == "nvidia" || vendor == "amd" || vendor == "intel";
  return device_class.starts_with("0x03") && computes ? "gpu" : "";
}

std::string model_of(const std::string& root, const fs::path& device, const std::string& vendor) {
  const std::string address = device.filename().string();
  std::ifstream file(root + "/proc/driver/nvidia/gpus/" + address + "/information");
  for (std::string line, value; std::getline(file, line);) {
    if (value_of(line, "Model", value)) return value;
  }
  return vendor + " " + read_line(device / "device");
}

}  // namespace

Host read_host(const std::string& root) {
  Host host;
  host.name = trimmed(read_line(root + "/proc/sys/kernel/hostname"));
  host.memory_bytes = read_memory(root);
  read_processors(root, host);
  read_quota(root, host);
  for (const fs::path& device : entries(root + "/sys/bus/pci/devices")) {
    Accelerator found;
    found.vendor = vendor_name(read_line(device / "vendor"));
    found.kind = kind_of(read_line(device / "class"), found.vendor);
    if (found.kind.empty()) continue;
    found.name = model_of(root, device, found.vendor);
    found.address = device.filename().string();
    found.memory_bytes = static_cast<uint64_t>(number(read_line(device / "mem_info_vram_total")));
    found.link_bytes_per_us = slot_bytes_per_us(device);
    host.accelerators.push_back(std::move(found));
  }
  return host;
}

}  // namespace placeto
