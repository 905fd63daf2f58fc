// What contenders give back, beside what the model gave back as it came. What the engine fuses in a
// stage need not be what it fuses in the whole, and may compute with other precision.
// Private to this folder.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tools/tune/contenders.h"

namespace placeto {

// The model as it came, run by the processor on one thread. Fails as running does, and as
// keep_outputs does.
Result<std::vector<ModelOutput>> outputs_of_model(const TuneOptions& options);

// Writes down how far the last run of each contender deviates; they must be open. Fails as
// output_deviations does.
Status compare_outputs(const TuneOptions& options, std::span<Runnable* const> contenders,
                       std::span<const ModelOutput> expected);

// The contenders that may be handed out: those that do not deviate, or all where all do. Says in
// `notes` which deviate, and how far.
std::vector<size_t> without_deviating(std::span<const std::unique_ptr<Runnable>> contenders,
                                      std::vector<std::string>& notes);

}  // namespace placeto
