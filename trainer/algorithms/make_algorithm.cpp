#include "trainer/algorithms/make_algorithm.h"

#include <cassert>

namespace placeto::train {

std::unique_ptr<Algorithm> make_algorithm(const Config& config) {
  if (config.algorithm == "credit") return make_credit(config);
  if (config.algorithm == "leaps") return make_leaps(config);
  if (config.algorithm == "reinforce") return make_reinforce(config);
  if (config.algorithm == "siblings") {
    return config.architecture == "pairwise" ? make_pairwise_siblings(config)
                                             : make_published_siblings(config);
  }
  assert(false);  // configurations with other names are refused
  return nullptr;
}

}  // namespace placeto::train
