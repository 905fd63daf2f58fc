// Fits the roofline model of a kind of device to measured run times.
//
// Each class of operator has three numbers: the rates it reaches when arithmetic and when memory
// bound it, and its launch time. They minimize the sum over nodes of w |log((p + e) / (m + e))|,
// p predicted, m measured, w = sqrt(m + e), e = 0.5 us: a ratio, so that small and large nodes
// count; absolute values, so that a few odd ones do not pull; the weight between counting nodes
// (w = 1) and counting time (w = m); e, because profiles have whole microseconds. A pattern search
// on the logarithms from several starts finds the minimum: three numbers, smooth nearly everywhere.
// Then the class is scaled so that its predicted total is the measured one.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "runtime/base/result.h"
#include "tools/costs/roofline.h"

namespace placeto {

// A node with its measured run time on the kind in question; negative: not measured, or cannot run.
struct Sample {
  NodeWork work;
  double us;
};

// The samples of a graph that states costs for the kind: those that were measured, or all if the
// graph says of none, on any kind, that it was. Fails with kBadInput if there are none.
Result<std::vector<Sample>> samples_of(const Graph& graph, const std::string& kind);

struct PeakRates {
  double flops = 0;      // per second
  double bandwidth = 0;  // bytes per second
};

// The highest rates that samples of at least 20 us reach, or shorter ones where no such has any of
// the work: what shares can refer to when nobody knows the data sheet.
PeakRates observed_peaks(std::span<const Sample> samples);

// Classes with fewer samples than this take the row of all classes together.
inline constexpr uint32_t kLeastSamples = 4;

Efficiencies fit_efficiencies(std::span<const Sample> samples, const std::string& kind,
                              PeakRates peaks);

// How well predictions meet measurements. Nodes that are fused or measured at 0 have no error of
// their own; they count in the totals.
struct FitError {
  double measured_us = 0, predicted_us = 0;
  double median_factor = 1;   // of max(p, m) / min(p, m), each plus 0.5 us
  double within_two = 0;      // share of nodes whose factor is at most 2
  double weighted_error = 0;  // sum |p - m| / sum m over all nodes
  uint32_t nodes = 0;
};
FitError error_of(std::span<const Sample> samples, const Efficiencies& efficiencies);

}  // namespace placeto
