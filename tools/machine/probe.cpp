#include "tools/machine/probe.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <functional>
#include <memory>
#include <vector>

#include "tools/costs/statistics.h"
#include "tools/engine/measure_run.h"
#include "tools/engine/model_inputs.h"
#include "tools/engine/runner.h"
#include "tools/io/scratch.h"
#include "tools/machine/probe_models.h"

namespace placeto {
namespace {

constexpr uint64_t kLargeBytes = 64 << 20;  // beyond most caches
constexpr uint32_t kStages = 16, kWidth = 8;
constexpr uint64_t kSmallCount = 64, kLargeCount = 256 * 1024;
constexpr uint64_t kWorkingCount = 512;  // a weight of 1 MiB
constexpr uint32_t kRuns = 60;

Result<Scratch> probe_folder() {
  std::error_code error;
  const std::filesystem::path parent = std::filesystem::temp_directory_path(error);
  if (!error) {
    Scratch folder((parent / "placeto-probe").string());
    if (!folder.root().empty()) return folder;
  }
  return Status::io(
      "no temporary folder can be made for what is to be run, expected one that can be written "
      "where TMPDIR says, else in /tmp");
}

Status need_probes() {
  if (Status s = engine_status(); !s.ok()) return s;
  if (can_make_probes()) return {};
  return Status::invalid("this placeto was built without libonnx and makes no probes");
}

SessionSettings settings_for(const std::string& provider, uint32_t threads, size_t devices) {
  SessionSettings settings;
  settings.threads = threads;
  settings.providers.assign(devices, provider);
  return settings;
}

Result<std::unique_ptr<Runner>> start(const Manifest& manifest, const Scratch& scratch,
                                      const SessionSettings& settings) {
  auto runner = Runner::open(manifest, scratch.root(), settings);
  if (!runner.ok()) return runner.status();
  if (Status s = fill_model_inputs((*runner)->model(), {}); !s.ok()) return s;
  if (Status s = (*runner)->start(); !s.ok()) return s;
  return runner;
}

// The shortest run of a model of one stage: what the device can do, without what disturbed it.
Result<double> fastest_us(const std::string& bytes, const std::string& provider,
                          const std::string& device, uint32_t threads) {
  const Result<Scratch> scratch = probe_folder();
  if (!scratch.ok()) return scratch.status();
  if (Status s = scratch->write("probe.onnx", bytes); !s.ok()) return s;
  const auto runner =
      start(whole_model("probe.onnx", device), *scratch, settings_for(provider, threads, 1));
  if (!runner.ok()) return runner.status();
  double fastest = 0;
  const double until = now_us() + 300e3;
  for (int i = 0; i < 3 || now_us() < until; ++i) {
    const auto time = time_stage((*runner)->model(), 0);
    if (!time.ok()) return time.status();
    fastest = i == 0 ? *time : std::min(fastest, *time);
  }
  return fastest;
}

// What one operator more in a chain takes: what it costs to start a session, and to bring inputs
// to the device and outputs back, is the same for every length, and on devices of their own longer
// than the operators. There chains are made longer until the difference is more than what disturbs.
Result<double> operator_us(const std::function<std::string(uint32_t length)>& chain,
                           const std::string& provider, const std::string& device,
                           uint32_t threads) {
  constexpr uint32_t kShort = 1;
  constexpr double kClear = 1.5;
  const auto few = fastest_us(chain(kShort), provider, device, threads);
  if (!few.ok()) return few.status();
  for (const uint32_t length : {9u, 65u, 513u}) {
    const auto many = fastest_us(chain(length), provider, device, threads);
    if (!many.ok()) return many.status();
    if (*many > kClear * *few) return (*many - *few) / (length - kShort);
  }
  return Status::invalid(
      "a longer chain of operators takes no more time, so that no rate is known");
}

// The chain in stages of one operator each, in turn on `devices`.
Manifest divided_chain(uint32_t width, const std::vector<std::string>& devices) {
  Manifest manifest;
  manifest.devices = devices;
  for (uint32_t s = 0; s < kStages; ++s) {
    ManifestStage stage;
    stage.file = "stage_" + std::to_string(s) + ".onnx";
    stage.device = s % static_cast<uint32_t>(devices.size());
    if (s > 0) stage.after = {s - 1};
    for (uint32_t c = 0; c < width; ++c) {
      stage.inputs.push_back({chain_tensor(c, s), s == 0 ? kFromCaller : s - 1});
      stage.outputs.push_back(chain_tensor(c, s + 1));
    }
    manifest.stages.push_back(std::move(stage));
    manifest.order.push_back(s);
  }
  manifest.inputs = manifest.stages.front().inputs;
  for (const std::string& name : manifest.stages.back().outputs) {
    manifest.outputs.push_back({name, kStages - 1});
  }
  return manifest;
}

// What dividing a chain of kStages operators once more costs, in microseconds.
using MakeChain = std::function<std::string(uint32_t first, uint32_t length)>;

Result<double> divide(const std::string& provider, const std::vector<std::string>& devices,
                      uint32_t threads, uint32_t width, const MakeChain& chain) {
  const Result<Scratch> scratch = probe_folder();
  if (!scratch.ok()) return scratch.status();
  Status written = scratch->write("whole.onnx", chain(0, kStages));
  for (uint32_t s = 0; s < kStages && written.ok(); ++s) {
    written = scratch->write("stage_" + std::to_string(s) + ".onnx", chain(s, 1));
  }
  if (!written.ok()) return written;
  const SessionSettings settings = settings_for(provider, threads, devices.size());
  const auto whole = start(whole_model("whole.onnx", devices[0]), *scratch, settings);
  const auto split = start(divided_chain(width, devices), *scratch, settings);
  if (!whole.ok()) return whole.status();
  if (!split.ok()) return split.status();
  if (Status s = wake_devices((*split)->model()); !s.ok()) return s;
  const auto runs = measure_latency((*split)->workers(), &(*whole)->model(), kRuns, 5);
  if (!runs.ok()) return runs.status();
  std::vector<double> differences;
  for (size_t i = 0; i < runs->latency_us.size(); ++i) {
    // From the first stage on: waking the worker is no price of dividing.
    const double divided = runs->stages[i].back().end_us - runs->stages[i].front().start_us;
    differences.push_back((divided - runs->whole_us[i]) / (kStages - 1));
  }
  return median(differences);
}

Result<double> divide(const std::string& provider, const std::vector<std::string>& devices,
                      uint32_t threads, uint32_t width, uint64_t count) {
  return divide(provider, devices, threads, width, [=](uint32_t first, uint32_t length) {
    return chain_probe(first, length, width, count);
  });
}

}  // namespace

double measure_copy_bandwidth() {
  std::vector<char> from(kLargeBytes, 1), to(kLargeBytes, 2);
  double fastest = 1e30;
  for (int i = 0; i < 5; ++i) {
    const double begin = now_us();
    std::memcpy(to.data(), from.data(), kLargeBytes);
    fastest = std::min(fastest, now_us() - begin);
    std::swap(from, to);  // so that no copy is left out as useless
  }
  return 2.0 * kLargeBytes / fastest * 1e6;
}

Result<DeviceRates> measure_rates(const std::string& provider, const std::string& device,
                                  uint32_t threads) {
  constexpr uint32_t kSide = 768;
  if (Status s = need_probes(); !s.ok()) return s;
  const auto product =
      operator_us([](uint32_t n) { return product_probe(kSide, n); }, provider, device, threads);
  if (!product.ok()) return product.status();
  const auto addition = operator_us([](uint32_t n) { return addition_probe(kLargeBytes / 4, n); },
                                    provider, device, threads);
  if (!addition.ok()) return addition.status();
  return DeviceRates{2.0 * kSide * kSide * kSide / *product * 1e6,
                     3.0 * kLargeBytes / *addition * 1e6};
}

StagePrices prices_from(double one_small_us, double many_small_us, uint32_t width,
                        double one_large_us, double bytes) {
  StagePrices prices;
  // Each tensor is a cut of the stage that makes it and of the one that reads it.
  prices.cut_us = std::max(0.0, (many_small_us - one_small_us) / (2.0 * (width - 1)));
  prices.stage_us = std::max(0.0, one_small_us - 2 * prices.cut_us);
  const double by_size_us = one_large_us - one_small_us;
  if (by_size_us > 0) prices.cut_bytes_per_us = 2 * bytes / by_size_us;
  return prices;
}

Result<StagePrices> measure_prices(const std::string& provider, const std::string& device,
                                   uint32_t threads) {
  if (Status s = need_probes(); !s.ok()) return s;
  const auto one = divide(provider, {device}, threads, 1, kSmallCount);
  if (!one.ok()) return one.status();
  const auto many = divide(provider, {device}, threads, kWidth, kSmallCount);
  if (!many.ok()) return many.status();
  // A session that others have worked since finds its own data gone from the nearest caches.
  const MakeChain works = [](uint32_t first, uint32_t length) {
    return working_chain_probe(first, length, kWorkingCount);
  };
  const auto working = divide(provider, {device}, threads, 1, works);
  if (!working.ok()) return working.status();
  // Two workers with several threads each would take the cores from one another.
  const auto alone = threads == 1 ? working : divide(provider, {device}, 1, 1, works);
  if (!alone.ok()) return alone.status();
  const std::vector<std::string> two = {device, device + "'"};
  const auto passed = divide(provider, two, 1, 1, works);
  if (!passed.ok()) return passed.status();
  const double handover_us = std::max(0.0, *passed - *alone);
  const auto small = threads == 1 ? one : divide(provider, {device}, 1, 1, kSmallCount);
  if (!small.ok()) return small.status();
  const auto large = divide(provider, two, 1, 1, kLargeCount);
  if (!large.ok()) return large.status();
  const double by_size_us = *large - handover_us - *small;
  StagePrices prices = prices_from(*one, *many, kWidth, *one + by_size_us, 4.0 * kLargeCount);
  prices.stage_us = std::max(prices.stage_us, *working - 2 * prices.cut_us);
  prices.handover_us = handover_us;
  return prices;
}

}  // namespace placeto
