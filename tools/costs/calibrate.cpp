#include "tools/costs/calibrate.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "runtime/graph/text.h"

namespace placeto {
namespace {

constexpr double kResolutionUs = 0.5;

using Point = std::array<double, 3>;  // logarithms of share of flops, share of bandwidth, launch

ClassEfficiency row_at(const Point& point) {
  return {std::exp(point[0]), std::exp(point[1]), std::exp(point[2]), 0};
}

double loss(std::span<const Sample> samples, const Point& point, PeakRates peaks) {
  const ClassEfficiency row = row_at(point);
  double total = 0;
  for (const Sample& sample : samples) {
    const double predicted = roofline_us(sample.work, row, peaks.flops, peaks.bandwidth);
    const double measured = sample.us + kResolutionUs;
    total += std::sqrt(measured) * std::abs(std::log((predicted + kResolutionUs) / measured));
  }
  return total;
}

// Shares from 1/1,000 to 100 times the peak (caches), launches from 0.05 us to 1 ms.
constexpr Point kLowest = {-6.9, -6.9, -3.0};
constexpr Point kHighest = {4.6, 4.6, 6.9};

// Hooke and Jeeves: a step along each axis, halved when none helps.
Point search(std::span<const Sample> samples, Point at, PeakRates peaks) {
  double best = loss(samples, at, peaks);
  for (double step = 1; step > 0.005; step /= 2) {
    for (bool better = true; better;) {
      better = false;
      for (size_t axis = 0; axis < at.size(); ++axis) {
        for (double sign : {1.0, -1.0}) {
          Point next = at;
          next[axis] = std::clamp(next[axis] + sign * step, kLowest[axis], kHighest[axis]);
          const double value = loss(samples, next, peaks);
          if (value >= best * (1 - 1e-9)) continue;
          best = value, at = next, better = true;
        }
      }
    }
  }
  return at;
}

// Scales a row so that the sum of its predictions is that of the measurements.
void match_total(std::span<const Sample> samples, PeakRates peaks, ClassEfficiency& row) {
  double measured = 0, predicted = 0;
  for (const Sample& sample : samples) {
    measured += sample.us;
    predicted += roofline_us(sample.work, row, peaks.flops, peaks.bandwidth);
  }
  if (measured <= 0 || predicted <= 0) return;
  // More than that is the work of a few odd nodes.
  const double scale = std::clamp(measured / predicted, 0.67, 1.5);
  row.flops /= scale, row.bandwidth /= scale, row.launch_us *= scale;
}

ClassEfficiency fit_row(std::span<const Sample> samples, PeakRates peaks) {
  Point best{};
  double least = INFINITY;
  for (const Point start : {Point{-0.7, -0.4, 0.7}, Point{-2.3, 0.7, 1.6}, Point{-0.2, -2.3, -1}}) {
    const Point found = search(samples, start, peaks);
    const double value = loss(samples, found, peaks);
    if (value < least) least = value, best = found;
  }
  ClassEfficiency row = row_at(best);
  match_total(samples, peaks, row);
  row.samples = static_cast<uint32_t>(samples.size());
  return row;
}

// Samples that say something about the class: run on their own, and long enough to be seen.
bool usable(const Sample& sample) {
  return sample.us > 0 && !sample.work.fused;
}

// Per second, of the samples that are long enough; of all, each as long as the clock lets it be, if
// none of those has any.
double highest_rate(std::span<const Sample> samples, double NodeWork::*amount) {
  constexpr double kLongEnoughUs = 20;  // below, the clock's resolution makes rates up
  constexpr double kLeastRate = 1e9;
  double of_long = 0, of_all = 0;
  for (const Sample& sample : samples) {
    if (!usable(sample)) continue;
    const double done = sample.work.*amount;
    if (sample.us >= kLongEnoughUs) of_long = std::max(of_long, done / sample.us);
    of_all = std::max(of_all, done / (sample.us + kResolutionUs));
  }
  return std::max(kLeastRate, (of_long > 0 ? of_long : of_all) * 1e6);
}

}  // namespace

Result<std::vector<Sample>> samples_of(const Graph& graph, const std::string& kind) {
  const auto kinds = graph.kinds();
  const auto at = static_cast<size_t>(std::find(kinds.begin(), kinds.end(), kind) - kinds.begin());
  if (at == kinds.size()) {
    return Status::bad_input("states no run times on kind " + in_quotes(kind) +
                             ", expected a graph that was imported with a profile of it");
  }
  const auto& nodes = graph.spec().nodes;
  const auto measured_on = [&nodes](uint64_t columns) {
    return std::any_of(nodes.begin(), nodes.end(),
                       [columns](const NodeSpec& node) { return (node.measured & columns) != 0; });
  };
  const uint64_t column = at < 64 ? uint64_t{1} << at : 0;
  const bool all = !measured_on(~uint64_t{0});  // where they come from is not known
  if (!all && !measured_on(column)) {
    return Status::bad_input("has estimates alone on kind " + in_quotes(kind) +
                             ", expected run times that were measured");
  }
  const std::vector<NodeWork> works = node_works(graph);
  std::vector<Sample> samples;
  for (uint32_t v = 0; v < graph.node_count(); ++v) {
    const std::vector<double>& costs = nodes[v].cost_us;
    const bool counts = at < costs.size() && (all || (nodes[v].measured & column) != 0);
    samples.push_back({works[v], counts ? costs[at] : -1});
  }
  return samples;
}

PeakRates observed_peaks(std::span<const Sample> samples) {
  return {highest_rate(samples, &NodeWork::flops), highest_rate(samples, &NodeWork::bytes)};
}

Efficiencies fit_efficiencies(std::span<const Sample> samples, const std::string& kind,
                              PeakRates peaks) {
  Efficiencies out = default_efficiencies(kind, peaks.flops, peaks.bandwidth);
  std::vector<Sample> all;
  std::array<std::vector<Sample>, kOperatorClassCount> by_class;
  for (const Sample& sample : samples) {
    if (!usable(sample)) continue;
    all.push_back(sample);
    by_class[static_cast<size_t>(sample.work.operator_class)].push_back(sample);
  }
  if (all.size() < kLeastSamples) return out;
  ClassEfficiency common = fit_row(all, peaks);
  common.samples = 0;
  for (size_t c = 0; c < by_class.size(); ++c) {
    out.classes[c] = by_class[c].size() < kLeastSamples ? common : fit_row(by_class[c], peaks);
  }
  return out;
}

FitError error_of(std::span<const Sample> samples, const Efficiencies& efficiencies) {
  FitError error;
  std::vector<double> factors;
  double difference = 0;
  for (const Sample& sample : samples) {
    if (sample.us < 0) continue;
    const double predicted = estimate_us(sample.work, efficiencies);
    error.measured_us += sample.us;
    error.predicted_us += predicted;
    difference += std::abs(predicted - sample.us);
    if (!usable(sample)) continue;
    const double p = predicted + kResolutionUs, m = sample.us + kResolutionUs;
    factors.push_back(std::max(p, m) / std::min(p, m));
  }
  error.nodes = static_cast<uint32_t>(factors.size());
  if (error.measured_us > 0) error.weighted_error = difference / error.measured_us;
  if (factors.empty()) return error;
  std::sort(factors.begin(), factors.end());
  error.median_factor = factors[factors.size() / 2];
  const auto close = std::upper_bound(factors.begin(), factors.end(), 2.0) - factors.begin();
  error.within_two = static_cast<double>(close) / static_cast<double>(factors.size());
  return error;
}

}  // namespace placeto
