// Exact credit: one step of the optimizer, for tests. credit.cpp explains it.
#pragma once

#include "trainer/pairwise/learner.h"

namespace placeto::train {

struct CreditLosses {
  double regression = 0, all_action = 0, imitation = 0;
};

CreditLosses credit_step(PairwiseLearner& learner, const Samples& batch, double learning_rate);

}  // namespace placeto::train
