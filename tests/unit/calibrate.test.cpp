// Efficiency files, and the fit of the estimates to what was measured.
#include "tools/costs/calibrate.h"

#include <doctest/doctest.h>

#include <cmath>

#include "runtime/base/random.h"
#include "tools/costs/efficiency_file.h"

using namespace placeto;

TEST_CASE("efficiency files survive being written and read") {
  Efficiencies written = default_efficiencies("npu", 1e12, 5e10);
  written.device = "a \"quoted\" device";
  written.classes[3] = {0.1234567890123, 3, 0, 17};
  const auto read = efficiencies_from_json(efficiencies_to_json(written));
  REQUIRE_MESSAGE(read.ok(), read.status().message());
  CHECK(*read == written);
}

TEST_CASE("efficiency files that lack or add something are refused with the field") {
  const std::string good = efficiencies_to_json(default_efficiencies("cpu", 1e12, 5e10));
  const auto problem = [&](const std::string& what, const std::string& by) {
    std::string text = good;
    const size_t at = text.find(what);
    REQUIRE(at != std::string::npos);
    text.replace(at, what.size(), by);
    const auto result = efficiencies_from_json(text);
    REQUIRE(!result.ok());
    return result.status().message();
  };
  CHECK(problem("\"format_version\": 1", "\"format_version\": 2").find("format_version") == 0);
  CHECK(problem("\"conv\"", "\"cnov\"").find("'cnov'") != std::string::npos);
  CHECK(problem("\"device\"", "\"devise\"").find("'devise'") != std::string::npos);
  CHECK(problem("\"launch_us\": 1.0", "\"launch_us\": -1").find("launch_us") != std::string::npos);
  CHECK(problem("\"peak_flops\": 1000000000000.0", "\"peak_flops\": 0").find("peak_flops") == 0);
  CHECK(!efficiencies_from_json("[]").ok());
}

TEST_CASE("peaks are those of long samples, and of short ones where none is long") {
  const auto sample = [](double us, double flops, double bytes) {
    return Sample{{OperatorClass::kConvolution, flops, bytes, 1, false}, us};
  };
  std::vector<Sample> samples{sample(1, 3e6, 6e4), sample(4.5, 1e6, 2e5)};
  CHECK(observed_peaks(samples).flops == doctest::Approx(2e12));      // 3e6 in 1.5 us
  CHECK(observed_peaks(samples).bandwidth == doctest::Approx(4e10));  // 2e5 in 5 us
  samples.push_back(sample(20, 2e7, 0));
  CHECK(observed_peaks(samples).flops == doctest::Approx(1e12));
  CHECK(observed_peaks(samples).bandwidth == doctest::Approx(4e10));
}

TEST_CASE("a fit is to what was measured, where a graph says what was") {
  GraphSpec spec;
  spec.name = "test";
  spec.kinds = {"cpu", "gpu"};
  for (const char* name : {"a", "b", "c", "d", "e"}) {
    NodeSpec& node = spec.nodes.emplace_back();
    node.name = name;
    node.op = "Relu";
    node.cost_us = {5, 7};
    node.bytes_accessed = 128;
  }
  const auto times = [&](const std::string& kind) {
    const auto samples = *samples_of(*Graph::build(spec), kind);
    std::vector<double> us;
    for (const Sample& sample : samples) us.push_back(sample.us);
    return us;
  };
  CHECK(times("gpu") == std::vector<double>{7, 7, 7, 7, 7});
  spec.nodes[1].measured = spec.nodes[2].measured = 2;
  CHECK(times("gpu") == std::vector<double>{-1, 7, 7, -1, -1});
  const auto estimates = samples_of(*Graph::build(spec), "cpu");
  REQUIRE(!estimates.ok());
  CHECK(estimates.status().message().find("estimates alone on kind 'cpu'") != std::string::npos);
}

TEST_CASE("a fit recovers the rates that made the measurements, in spite of noise and outliers") {
  const PeakRates peaks{1e11, 2e10};
  Efficiencies truth = default_efficiencies("cpu", peaks.flops, peaks.bandwidth);
  truth.classes[static_cast<size_t>(OperatorClass::kConvolution)] = {0.5, 0.4, 6, 0};
  truth.classes[static_cast<size_t>(OperatorClass::kElementwise)] = {0.9, 1.5, 2, 0};
  Random random(7);
  std::vector<Sample> samples;
  for (int i = 0; i < 200; ++i) {
    const bool conv = i % 2 == 0;
    NodeWork work{conv ? OperatorClass::kConvolution : OperatorClass::kElementwise, 0, 0, 1, false};
    work.bytes = std::exp(8 + 8 * random.uniform());
    work.flops = conv ? work.bytes * std::exp(5 * random.uniform()) : work.bytes / 12;
    double us = estimate_us(work, truth) * (0.9 + 0.2 * random.uniform());
    if (i % 20 == 1) us *= 5;
    samples.push_back({work, us});
  }
  const Efficiencies fitted = fit_efficiencies(samples, "cpu", peaks);
  const auto row = fitted.classes[static_cast<size_t>(OperatorClass::kConvolution)];
  CHECK(row.flops == doctest::Approx(0.5).epsilon(0.1));
  CHECK(row.bandwidth == doctest::Approx(0.4).epsilon(0.15));
  CHECK(row.launch_us == doctest::Approx(6).epsilon(0.25));
  CHECK(row.samples == 100);
  const FitError before = error_of(samples, default_efficiencies("cpu", 1e11, 2e10));
  const FitError after = error_of(samples, fitted);
  CHECK(after.median_factor < 1.15);
  CHECK(after.median_factor < before.median_factor);
  CHECK(after.within_two > 0.9);
  // A class without samples has the row of all.
  CHECK(fitted.classes[static_cast<size_t>(OperatorClass::kRecurrent)].samples == 0);
}
