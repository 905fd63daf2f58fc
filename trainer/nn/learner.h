// Learner: the networks of a policy while they are trained. Nothing of LibTorch shows here: its
// headers cost twelve seconds and a gigabyte for every file that includes them.
#pragma once

#include <string>

#include "runtime/base/result.h"
#include "runtime/policy/file/policy_spec.h"

namespace placeto::train {

// kInvalidArgument unless LibTorch can compute on `processor`, as learn.processor names it.
Status can_learn_on(const std::string& processor);

class Learner {
 public:
  virtual ~Learner() = default;

  // The networks that ship, the average of the weights over steps, without provenance.
  virtual PolicySpec policy() const = 0;
  // Those of the weights as they are now.
  virtual PolicySpec current_policy() const = 0;
  // Takes a policy's weights. kBadInput if it has other networks or features.
  virtual Status begin_with(const PolicySpec& policy) = 0;

  // Parameters, averages, optimizer and the random state of LibTorch.
  virtual std::string save() const = 0;
  // kBadInput if the bytes are not of a learner of this configuration.
  virtual Status load(const std::string& bytes) = 0;
};

}  // namespace placeto::train
