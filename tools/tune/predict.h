// What is predicted of contenders, and how measurements correct it. Private to this folder.
#pragma once

#include <memory>
#include <span>

#include "tools/tune/contenders.h"

namespace placeto {

// From its predicted timeline, into its info.
void note_prediction(Objective objective, double whole_us, Runnable& contender);

// What the stages of measured contenders say of run times goes into the model, and what they say of
// the prices of stages into the machine (feedback.h).
Status correct_costs(std::span<Runnable* const> measured, ProfiledModel& model,
                     TopologySpec& machine);

// What the cost model makes of each contender's own stage times: how its stages wait for one
// another. Nothing without such times, as for a stream.
Status predict_from_stages(const ProfiledModel& model, const TopologySpec& machine,
                           Objective objective,
                           std::span<const std::unique_ptr<Runnable>> contenders);

}  // namespace placeto
