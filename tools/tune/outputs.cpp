#include "tools/tune/outputs.h"

#include <fmt/format.h>

#include "runtime/graph/text.h"

namespace placeto {

Result<std::vector<ModelOutput>> outputs_of_model(const TuneOptions& options) {
  Runnable model;
  model.info.way = Contender::Way::kEngine;
  model.directory = options.model;
  model.provider = "cpu";
  if (Status s = open_contender(options, model); !s.ok()) return s;
  return keep_outputs(model.replicas.front()->model());
}

Status compare_outputs(const TuneOptions& options, std::span<Runnable* const> contenders,
                       std::span<const ModelOutput> expected) {
  for (Runnable* contender : contenders) {
    auto deviations = output_deviations(contender->replicas.front()->model(), expected);
    if (!deviations.ok()) return deviations.status().at(contender->info.name);
    for (OutputDeviation& output : *deviations) {
      if (options.output_tolerance >= 0) output.tolerance = options.output_tolerance;
    }
    contender->info.output = worst_of(*deviations);
  }
  return {};
}

std::vector<size_t> without_deviating(std::span<const std::unique_ptr<Runnable>> contenders,
                                      std::vector<std::string>& notes) {
  std::vector<size_t> all, agreeing;
  const OutputDeviation* worst = nullptr;
  for (size_t i = 0; i < contenders.size(); ++i) {
    const Contender& info = contenders[i]->info;
    all.push_back(i);
    if (!info.deviates()) {
      agreeing.push_back(i);
    } else if (worst == nullptr || info.output->deviation > worst->deviation) {
      worst = &*info.output;
    }
  }
  if (worst == nullptr) return all;
  notes.push_back(fmt::format(
      "{} of {} ways deviate from the model's outputs{}: {} by up to {:.2g}, expected at most "
      "{:.2g} (--tolerance)",
      all.size() - agreeing.size(), all.size(), agreeing.empty() ? "" : " and are not handed out",
      in_quotes(worst->name), worst->deviation, worst->tolerance));
  return agreeing.empty() ? all : agreeing;
}

}  // namespace placeto
