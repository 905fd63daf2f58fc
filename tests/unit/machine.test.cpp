// Hosts as the kernel's files describe them, and machines made of them.
#include <doctest/doctest.h>

#include "tests/support/folder.h"
#include "tools/io/read.h"
#include "tools/io/write.h"
#include "tools/machine/machine.h"
#include "tools/machine/probe.h"

namespace placeto {
namespace {

using test::Folder;

// Two cores with two threads each, a GPU on 16 lanes of 16 GT/s, and a display that cannot compute.
void write_server(const Folder& files) {
  std::string cpus;
  for (int i = 0; i < 4; ++i) {
    cpus += "processor\t: " + std::to_string(i) +
            "\nmodel name\t: Test CPU\ncpu MHz\t\t: 2500.0\n" +
            "physical id\t: 0\ncore id\t\t: " + std::to_string(i / 2) +
            "\nflags\t\t: fpu avx avx2 fma\n\n";
  }
  files.write("proc/cpuinfo", cpus);
  files.write("proc/meminfo", "MemTotal:       16000000 kB\nMemFree: 1 kB\n");
  files.write("proc/sys/kernel/hostname", "server\n");
  files.write("sys/devices/system/cpu/cpu0/cache/index0/size", "32K\n");
  files.write("sys/devices/system/cpu/cpu0/cache/index3/size", "8M\n");
  const std::string gpu = "sys/bus/pci/devices/0000:01:00.0/";
  files.write(gpu + "vendor", "0x10de\n");
  files.write(gpu + "class", "0x030200\n");
  files.write(gpu + "device", "0x2330\n");
  files.write(gpu + "max_link_speed", "16.0 GT/s PCIe\n");
  files.write(gpu + "max_link_width", "16\n");
  const std::string display = "sys/bus/pci/devices/0000:00:02.0/";
  files.write(display + "vendor", "0x1234\n");
  files.write(display + "class", "0x030000\n");
}

TEST_CASE("a host is what the kernel says: cores, memory, caches, accelerators and their slots") {
  const Folder files;
  write_server(files);
  const Host host = read_host(files.root());
  CHECK(host.name == "server");
  CHECK(host.processors.logical == 4);
  CHECK(host.processors.cores == 2);
  CHECK(host.processors.frequency_hz == 2.5e9);
  CHECK(host.processors.flops_per_cycle == 32);
  CHECK(host.processors.cache_bytes == 8 << 20);
  CHECK(host.memory_bytes == uint64_t{16000000} * 1024);
  REQUIRE(host.accelerators.size() == 1);
  CHECK(host.accelerators[0].kind == "gpu");
  CHECK(host.accelerators[0].link_bytes_per_us == doctest::Approx(31508).epsilon(0.001));
}

TEST_CASE("a control group's limits are the host's") {
  const Folder files;
  write_server(files);
  files.write("sys/fs/cgroup/cpu.max", "150000 100000\n");
  files.write("sys/fs/cgroup/memory.max", "1000000000\n");
  const Host host = read_host(files.root());
  CHECK(host.processors.usable == 1.5);
  CHECK(host.memory_bytes == 1000000000);
}

TEST_CASE("limits of the first version of control groups are the host's") {
  const Folder files;
  write_server(files);
  files.write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
  files.write("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  CHECK(read_host(files.root()).processors.usable == 4);
  files.write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "150000\n");
  files.write("sys/fs/cgroup/memory/memory.limit_in_bytes", "1000000000\n");
  CHECK(read_host(files.root()).processors.usable == 1.5);
  CHECK(read_host(files.root()).memory_bytes == 1000000000);
}

TEST_CASE("processors that this process may not run on are none of the host's") {
  const Folder files;
  write_server(files);
  for (const char* node : {"node0", "node1"}) {
    files.write(std::string("sys/devices/system/node/") + node + "/cpulist",
                node[4] == '0' ? "0-1\n" : "2-3\n");
  }
  const auto with = [&](const std::string& allowed) {
    files.write("proc/self/status", "Name:\tplaceto\nCpus_allowed_list:\t" + allowed + "\n");
    return read_host(files.root()).processors;
  };
  CHECK(with("0-3").logical == 4);
  CHECK(with("0-3").numa_nodes == 2);
  const Processors two = with("1,3");
  CHECK(two.logical == 2);
  CHECK(two.usable == 2);
  CHECK(two.numa_nodes == 2);
  const Processors one = with("3");
  CHECK(one.logical == 1);
  CHECK(one.cores == 1);
  CHECK(one.usable == 1);
  CHECK(one.numa_nodes == 1);
}

TEST_CASE("memory without processors is no processor of the host's") {
  const Folder files;
  write_server(files);
  files.write("sys/devices/system/node/node0/cpulist", "0-3\n");
  for (const char* memory : {"node1", "node2"}) {
    files.write(std::string("sys/devices/system/node/") + memory + "/cpulist", "\n");
  }
  CHECK(read_host(files.root()).processors.numa_nodes == 1);
}

TEST_CASE("a host without files has no processors, and reading it does not fail") {
  const Folder files;
  const Host host = read_host(files.root());
  CHECK(host.processors.logical == 0);
  CHECK(host.accelerators.empty());
}

TEST_CASE("workers share the processors, and every number has a source") {
  const Folder files;
  write_server(files);
  NvidiaDevice known;
  known.address = "0000:01:00.0";
  known.memory_bytes = 80000000000;
  known.peak_flops = 6e13;
  const TopologySpec machine = describe_host(read_host(files.root()), {known}, 2);
  REQUIRE(machine.devices.size() == 3);
  CHECK(Topology::build(machine).ok());
  CHECK(machine.devices[0].peak_flops == 2.5e9 * 32);
  CHECK(machine.devices[0].flops_source == Source::kDataSheet);
  CHECK(machine.devices[0].bandwidth_source == Source::kGuess);
  CHECK(machine.devices[2].name == "gpu:0");
  CHECK(machine.devices[2].memory_bytes == 80000000000);
  CHECK(machine.devices[2].flops_source == Source::kDataSheet);
  CHECK(machine.devices[2].bandwidth_source == Source::kGuess);
  CHECK(machine.default_link.source == Source::kGuess);
  CHECK(machine.links.size() == 4);  // both workers and the GPU, both ways
  CHECK(machine.default_link.latency_us > 0);
  CHECK(machine.transfer == Transfer::kUnicast);  // under which latencies are charged
  const std::string path = files.root() + "/machine.bin";
  REQUIRE(write_topology(path, machine).ok());
  const auto back = read_topology(path);
  REQUIRE(back.ok());
  CHECK(mixed_sources(back->spec()) == mixed_sources(machine));
  CHECK(back->spec().default_link.source == Source::kGuess);
}

TEST_CASE("a processor that does not say how fast it is has a rate that is a guess") {
  const Folder files;
  files.write("proc/meminfo", "MemTotal:       16000000 kB\n");
  std::string cpus;
  for (int i = 0; i < 2; ++i) {
    cpus += "processor\t: " + std::to_string(i) +
            "\nBogoMIPS\t: 50.00\nFeatures\t: fp asimd evtstrm\nCPU implementer\t: 0x41\n"
            "CPU architecture: 8\nCPU variant\t: 0x3\nCPU part\t: 0xd0c\nCPU revision\t: 1\n\n";
  }
  files.write("proc/cpuinfo", cpus);
  const DeviceSpec processor = describe_host(read_host(files.root()), {}, 1).devices[0];
  CHECK(processor.peak_flops == 2 * 2.5e9 * 16);
  CHECK(processor.flops_source == Source::kGuess);
  files.write("proc/cpuinfo", "processor\t: 0\n");
  CHECK(describe_host(read_host(files.root()), {}, 1).devices[0].peak_flops == 2.5e9 * 8);
}

TEST_CASE("numbers of unlike sources are named, those of one source are not") {
  const Folder files;
  write_server(files);
  TopologySpec machine = describe_host(read_host(files.root()), {}, 1);
  const std::string mixed = mixed_sources(machine);
  CHECK(mixed.find("rates: gpu:0 guess, cpu:0 data sheet") != std::string::npos);
  for (DeviceSpec& device : machine.devices) device.flops_source = Source::kMeasured;
  CHECK(mixed_sources(machine).find("rates") == std::string::npos);
}

TEST_CASE("prices are those that make the differences that were measured") {
  // A stage 20, a cut 3, 1,000 bytes per us: between stages one small cut costs 20 + 2 * 3, eight
  // cost 20 + 16 * 3, a large one 20 + 2 * (3 + 50000 / 1000).
  const StagePrices prices = prices_from(26, 68, 8, 126, 50000);
  CHECK(prices.cut_us == doctest::Approx(3));
  CHECK(prices.stage_us == doctest::Approx(20));
  CHECK(prices.cut_bytes_per_us == doctest::Approx(1000));
  const StagePrices noise = prices_from(5, 4, 8, 4, 50000);
  CHECK(noise.cut_us == 0);
  CHECK(noise.stage_us == 5);
  CHECK(noise.cut_bytes_per_us == 0);
}

}  // namespace
}  // namespace placeto
