// The longer measurement before the choice. Private to this folder.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "tools/tune/contenders.h"

namespace placeto {

// Runs again, and twice as long, the contenders that may be handed out: of those in `eligible` the
// fastest three, what they must not be worse than (the engine's own ways, and `one_device`, which
// may be null), and whatever was faster once than the best of these is then. Returns their indices,
// ascending. Fails as running does.
Result<std::vector<size_t>> confirm(const TuneOptions& options,
                                    std::span<const std::unique_ptr<Runnable>> contenders,
                                    std::span<const size_t> eligible, const Runnable* one_device,
                                    StagedModel& whole, double whole_us);

}  // namespace placeto
