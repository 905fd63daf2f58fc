// Whether policies can place what they are to be measured on: asked before the first problem is
// measured. Where means are over all problems, of every one, for a mean over problems that a policy
// does not fit says nothing about it; where problems are reported by themselves, too, of any.
#pragma once

#include <functional>
#include <span>

#include "runtime/policy/file/policy.h"
#include "trainer/data/test_sets.h"

namespace placeto::train {

// What `check` says of the first problem of the set that it refuses, with the set's name; on
// several threads, 0: one per processor.
Status check_each(const TestSet& set, uint32_t threads,
                  const std::function<Status(const Problem&)>& check);

// Why the policy cannot place the problem. Errors: runtime/policy/guide.h.
Status check_fits(const Policy& policy, const Problem& problem);

// The same of all problems together: nothing if it can place any of them, else why not the first.
Status check_fits_any(const Policy& policy, std::span<const TestSet> sets);

}  // namespace placeto::train
