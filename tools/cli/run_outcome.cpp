#include "tools/cli/run_outcome.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "runtime/graph/text.h"
#include "tools/cli/graph_input.h"
#include "tools/costs/statistics.h"

namespace placeto::cli {
namespace {

Json spread(const std::vector<double>& values) {
  return {{"median", median(values)},
          {"p10", percentile(values, 0.1)},
          {"p90", percentile(values, 0.9)}};
}

// The file, in the caller's words where he gave the model on standard input.
std::string shown_file(const RunOutcome& run, const ManifestStage& stage) {
  const std::string path = run.directory + "/" + stage.file, given = as_given(path);
  return given == path ? stage.file : given;
}

Json stages_json(const RunOutcome& run) {
  const size_t count = run.manifest.stages.size();
  const auto summary = summarize_stages(run.latency, count);
  const auto handover = handover_us(run.manifest, run.latency);
  const auto predicted_handover = handover_us(run.manifest, predicted_run(run.manifest));
  Json stages = Json::array();
  for (size_t s = 0; s < count; ++s) {
    const ManifestStage& stage = run.manifest.stages[s];
    Json object{{"file", shown_file(run, stage)},
                {"device", run.manifest.devices[stage.device]},
                {"start_us", summary[s].start_us},
                {"time_us", summary[s].time_us}};
    if (stage.predicted_us > 0) {
      object["predicted_start_us"] = stage.predicted_start_us;
      object["predicted_us"] = stage.predicted_us;
    }
    if (handover[s] >= 0) object["handover_us"] = handover[s];
    if (predicted_handover[s] >= 0) object["predicted_handover_us"] = predicted_handover[s];
    stages.push_back(std::move(object));
  }
  return stages;
}

Json cuts_json(const RunOutcome& run) {
  const LatencyRuns predicted = predicted_run(run.manifest);
  Json cuts = Json::array();
  for (const Cut& cut : run.cuts) {
    Json object{{"name", cut.name},
                {"from", cut.from},
                {"to", cut.to},
                {"bytes", cut.bytes},
                {"wait_us", wait_us(run.latency, cut.from, cut.to)}};
    if (!predicted.stages.empty()) {
      object["predicted_wait_us"] = wait_us(predicted, cut.from, cut.to);
    }
    cuts.push_back(std::move(object));
  }
  return cuts;
}

double predicted_over_whole(const Manifest& manifest) {
  return manifest.predicted_makespan_us / manifest.predicted_whole_us;
}

std::string against(double predicted, double measured) {
  if (predicted <= 0) return "-";
  return fmt::format("{} ({:+.0f}%)", format_us(predicted), 100 * (predicted / measured - 1));
}

// With how long stages were handed over in, or without, where there is no room for that.
Table stages_of_run(const RunOutcome& run, bool with_handover) {
  std::vector<Table::Column> columns{{"stage"},
                                     {"device"},
                                     {"nodes", Align::kRight},
                                     {"starts", Align::kRight},
                                     {"takes", Align::kRight},
                                     {"predicted", Align::kRight}};
  if (with_handover) {
    columns.push_back({"handed over in", Align::kRight});
    columns.push_back({"predicted", Align::kRight});
  }
  Table table(columns);
  const size_t count = run.manifest.stages.size();
  const auto summary = summarize_stages(run.latency, count);
  const auto handover = handover_us(run.manifest, run.latency);
  const auto predicted_handover = handover_us(run.manifest, predicted_run(run.manifest));
  for (size_t s = 0; s < count; ++s) {
    const ManifestStage& stage = run.manifest.stages[s];
    table.add_row({shown_file(run, stage), run.manifest.devices[stage.device],
                   stage.nodes > 0 ? format_count(stage.nodes) : "-",
                   format_us(summary[s].start_us), format_us(summary[s].time_us),
                   against(stage.predicted_us, summary[s].time_us),
                   handover[s] < 0 ? "-" : format_us(handover[s]),
                   predicted_handover[s] < 0 ? "-" : format_us(predicted_handover[s])});
  }
  return table;
}

std::string measured_table(const RunOutcome& run) {
  const Table wide = stages_of_run(run, true);
  const size_t columns = output_columns();
  const bool fits = columns == 0 || wide.width() <= columns;
  return (fits ? wide : stages_of_run(run, false)).render();
}

std::string cut_table(const RunOutcome& run) {
  if (run.cuts.empty()) return "";
  Table table({{"tensor"},
               {"from", Align::kRight},
               {"to", Align::kRight},
               {"bytes", Align::kRight},
               {"waits", Align::kRight},
               {"predicted", Align::kRight}});
  const LatencyRuns predicted = predicted_run(run.manifest);
  for (const Cut& cut : run.cuts) {
    table.add_row(
        {shortened(printable(cut.name), 40), std::to_string(cut.from), std::to_string(cut.to),
         format_bytes(cut.bytes), format_us(wait_us(run.latency, cut.from, cut.to)),
         predicted.stages.empty() ? "-" : format_us(wait_us(predicted, cut.from, cut.to))});
  }
  return "\n" + table.render();
}

// " with batch=1"
std::string with_dims(const std::vector<DimSetting>& dims) {
  std::string text;
  for (const DimSetting& dim : dims) {
    text += fmt::format("{}{}={}", text.empty() ? " with " : ", ", printable(dim.name), dim.value);
  }
  return text;
}

// "2 replicas with 3 in flight each"
std::string in_flight(const RunOutcome& run) {
  if (run.replicas == 1) return fmt::format("{} in flight", run.slots);
  return fmt::format("{} replicas with {} in flight each", run.replicas, run.slots);
}

bool has_ratios(const RunOutcome& run) {
  return !run.latency.whole_us.empty() || !run.stream.whole_us.empty();
}

// "cpu:0 by cpu, gpu:0 by cuda"
std::string providers_text(const RunOutcome& run) {
  std::string text;
  for (size_t d = 0; d < run.providers.size(); ++d) {
    text +=
        fmt::format("{}{} by {}", d == 0 ? "" : ", ", run.manifest.devices[d], run.providers[d]);
  }
  return text;
}

// What the page says of how it was measured.
std::vector<std::string> remarks_of(const RunOutcome& run) {
  std::vector<std::string> remarks;
  if (run.deviation)
    remarks.emplace_back(run.deviation->exceeded() ? "outputs deviate" : "outputs agree");
  remarks.push_back("median of " + plural(run.runs, "run"));
  if (run.threads > 0) remarks.push_back(plural(run.threads, "thread"));
  for (const DimSetting& dim : run.dims) remarks.push_back(dim_text(dim));
  return remarks;
}

}  // namespace

std::vector<Cut> cuts_of(Runner& runner) {
  std::vector<Cut> cuts;
  const Manifest& manifest = runner.manifest();
  for (uint32_t s = 0; s < manifest.stages.size(); ++s) {
    for (const ManifestTensor& input : manifest.stages[s].inputs) {
      if (input.stage == kFromCaller) continue;
      cuts.push_back({input.name, input.stage, s, runner.model().tensor_bytes(input.name)});
    }
  }
  return cuts;
}

std::string deviation_problem(const RunOutcome& run) {
  if (!run.deviation || !run.deviation->exceeded()) return "";
  const OutputDeviation& worst = *run.deviation;
  std::string text = fmt::format(
      "output {} deviates from the whole model's by {:.2g}, expected at most {:.2g} (--tolerance)",
      in_quotes(worst.name), worst.deviation, worst.tolerance);
  if (run.rounds_to_steps) {
    text +=
        "; the model is quantized: a sum that differs in its last digit may move a result by a "
        "whole step, which is not wrong, and an operator that the engine fuses in only one of both "
        "may be less exact";
  }
  return text;
}

Json json_of_run(const RunOutcome& run) {
  Json report{{"plan", run.plan},
              {"engine", engine_version()},
              {"devices", run.manifest.devices},
              {"threads", run.threads},
              {"bound_memory", run.bound_memory},
              {"latency_us", spread(run.latency.latency_us)}};
  for (size_t d = 0; d < run.providers.size(); ++d) {
    report["providers"][run.manifest.devices[d]] = run.providers[d];
  }
  if (!run.chosen.empty()) report["chosen"] = run.chosen;
  for (const DimSetting& dim : run.dims) report["dims"][dim.name] = dim.value;
  if (!run.latency.whole_us.empty()) {
    report["whole_us"] = spread(run.latency.whole_us);
    report["over_whole"] = spread(over_whole(run.latency.latency_us, run.latency.whole_us));
  }
  if (run.manifest.predicted_makespan_us > 0) {
    report["predicted_us"] = run.manifest.predicted_makespan_us;
  }
  if (run.manifest.predicted_whole_us > 0) {
    report["predicted_whole_us"] = run.manifest.predicted_whole_us;
    report["predicted_over_whole"] = predicted_over_whole(run.manifest);
  }
  if (!run.stream.request_us.empty()) {
    report["stream"] = {{"replicas", run.replicas},
                        {"in_flight", run.slots},
                        {"request_us", spread(run.stream.request_us)}};
    if (!run.stream.whole_us.empty()) {
      report["stream"]["whole_us"] = spread(run.stream.whole_us);
      report["stream"]["over_whole"] =
          spread(over_whole(run.stream.request_us, run.stream.whole_us));
    }
  }
  if (run.deviation) {
    // JSON has no infinity: other sizes, or a number where there should be none.
    report["deviation"] = std::min(run.deviation->deviation, std::numeric_limits<double>::max());
    report["tolerance"] = run.deviation->tolerance;
  }
  if (!run.profiles.empty()) report["profiles"] = run.profiles;
  report["stages"] = stages_json(run);
  report["cuts"] = cuts_json(run);
  return report;
}

std::string text_of_run(const RunOutcome& run) {
  std::string text;
  if (!run.chosen.empty()) text += fmt::format("tune chose: {}\n", run.chosen);
  const double latency = median(run.latency.latency_us);
  text += fmt::format("one request{}: {} (median of {})", with_dims(run.dims), format_us(latency),
                      run.runs);
  if (run.manifest.predicted_makespan_us > 0) {
    text += ", predicted " + against(run.manifest.predicted_makespan_us, latency);
  }
  text += "\n";
  if (!run.latency.whole_us.empty()) {
    text +=
        fmt::format("the whole model on one thread beside it: {}; a request takes {:.3f} of that",
                    format_us(median(run.latency.whole_us)),
                    median(over_whole(run.latency.latency_us, run.latency.whole_us)));
    if (run.manifest.predicted_whole_us > 0) {
      text += fmt::format(", predicted {:.3f}", predicted_over_whole(run.manifest));
    }
    text += "\n";
  }
  if (!run.stream.request_us.empty()) {
    text += fmt::format("a stream, {}: {} per request", in_flight(run),
                        format_us(median(run.stream.request_us)));
    if (!run.stream.whole_us.empty()) {
      text += fmt::format(", {:.3f} of the whole model beside it, {}",
                          median(over_whole(run.stream.request_us, run.stream.whole_us)),
                          format_us(median(run.stream.whole_us)));
    }
    text += "\n";
  }
  if (has_ratios(run)) text += fmt::format("ratios {}\n", kRatiosAre);
  if (run.deviation) {
    text += fmt::format("outputs: largest |a - b| / (1 + |b|) is {:.2g}, tolerance {:.2g}\n",
                        run.deviation->deviation, run.deviation->tolerance);
  }
  text = measured_table(run) + cut_table(run) + "\n" + fitted(text);
  for (const std::string& file : run.profiles) text += "profile: " + file + "\n";
  return text;
}

RunReport report_of_run(const RunOutcome& run) {
  RunReport report;
  report.title = "Run of " + (run.manifest.graph.empty() ? run.plan : run.manifest.graph);
  report.devices = run.manifest.devices;
  report.measured_us = median(run.latency.latency_us);
  report.predicted_us = run.manifest.predicted_makespan_us;
  const auto summary = summarize_stages(run.latency, run.manifest.stages.size());
  for (size_t s = 0; s < summary.size(); ++s) {
    const ManifestStage& stage = run.manifest.stages[s];
    report.stages.push_back({shown_file(run, stage), stage.device, summary[s].start_us,
                             summary[s].time_us, stage.predicted_start_us, stage.predicted_us});
  }
  for (const Json& cut : cuts_json(run)) {
    report.cuts.push_back({cut["name"], cut["from"], cut["to"], cut["bytes"], cut["wait_us"],
                           cut.value("predicted_wait_us", -1.0)});
  }
  report.remarks = remarks_of(run);
  if (!run.chosen.empty()) report.facts.emplace_back("tune chose", run.chosen);
  report.facts.emplace_back("providers", providers_text(run));
  if (!run.latency.whole_us.empty()) {
    report.facts.emplace_back("the whole model on one thread beside it",
                              page_time(median(run.latency.whole_us)));
    const auto ratios = over_whole(run.latency.latency_us, run.latency.whole_us);
    report.facts.emplace_back("one request over the whole model",
                              fmt::format("{:.3f}", median(ratios)));
  }
  if (!run.stream.request_us.empty()) {
    report.facts.emplace_back("a stream, per request, " + in_flight(run),
                              page_time(median(run.stream.request_us)));
  }
  if (!run.stream.whole_us.empty()) {
    report.facts.emplace_back("the whole model beside the stream",
                              page_time(median(run.stream.whole_us)));
    const auto ratios = over_whole(run.stream.request_us, run.stream.whole_us);
    report.facts.emplace_back("the stream over the whole model",
                              fmt::format("{:.3f}", median(ratios)));
  }
  if (has_ratios(run)) report.note = fmt::format("Ratios {}.", kRatiosAre);
  return report;
}

}  // namespace placeto::cli
