#include "trainer/train/run.h"

#include "trainer/train/export.h"

namespace placeto::train {

Result<std::vector<std::string>> Run::exchange(std::string mine) {
  const bool stop = options.stop != nullptr && options.stop->load();
  if (options.hosts == nullptr) return std::vector<std::string>{std::move(mine)};
  Round round{state_of(state.iteration, config_text, policy ? policy->sha256() : Sha256Digest{}),
              stop, std::move(mine)};
  Result<std::vector<std::string>> all = exchange_round(*options.hosts, round);
  if (all.ok()) stopping = round.stop;
  return all;
}

Result<std::vector<uint8_t>> Run::file_of(PolicySpec spec) const {
  return export_policy(std::move(spec), config, config_text, state.examples);
}

Status Run::act_by(PolicySpec spec) {
  Result<std::vector<uint8_t>> bytes = file_of(std::move(spec));
  if (!bytes.ok()) return bytes.status();
  Result<std::shared_ptr<const Policy>> loaded = load_exported(*bytes);
  if (!loaded.ok()) return loaded.status();
  policy = std::move(*loaded);
  return {};
}

}  // namespace placeto::train
