// What a device and the runner really reach on this host. Takes about a second for each device.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/base/result.h"

namespace placeto {

// Bytes per second that one thread copies, read and written together, in memory larger than caches.
double measure_copy_bandwidth();

struct DeviceRates {
  double flops = 0;             // per second, of a product of matrices in float32
  double memory_bandwidth = 0;  // bytes per second, of an addition of large tensors
};

// By the engine, with that many threads, from what a long chain of each takes more than a short
// one. Fails as sessions do (staged_model.h); kInvalidArgument in
// a build without the engine or without libonnx.
Result<DeviceRates> measure_rates(const std::string& provider, const std::string& device,
                                  uint32_t threads);

// What dividing a model costs with this engine and this runner, and what passing a tensor to
// another worker does (runtime: staged execution).
struct StagePrices {
  double stage_us = 0, cut_us = 0;
  double cut_bytes_per_us = 0;  // 0: no time by size that could be told from noise
  double handover_us = 0;       // from the end of a stage to a start on another worker
};

// From a chain of operators, whole and divided into stages, with one tensor and with eight between
// stages, small and large, on one worker and on two in turn. Each divided run is compared with the
// whole one beside it; differences of those are the prices. The price by size is that of cuts
// between two workers: stages read it out of another core's cache and write over what is there, and
// are busy for as long, which no link is.
Result<StagePrices> measure_prices(const std::string& provider, const std::string& device,
                                   uint32_t threads);

// The prices that make those differences: of a cut between stages with one small tensor, with
// `width` small ones, and with one of `bytes`. What noise makes negative is 0.
StagePrices prices_from(double one_small_us, double many_small_us, uint32_t width,
                        double one_large_us, double bytes);

}  // namespace placeto
