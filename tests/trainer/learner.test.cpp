#include "trainer/pairwise/learner.h"

#include <doctest/doctest.h>

#include <cmath>

#include "runtime/base/random.h"
#include "trainer/algorithms/credit.h"

using namespace placeto;
using namespace placeto::train;

namespace {

LearnConfig small_learner() {
  LearnConfig config;
  config.hidden = {16};
  config.averaging = 0.9;
  return config;
}

// Decisions of three candidates whose gain is in one column.
Samples simple_samples(uint64_t seed) {
  Random random(seed);
  Samples samples;
  for (int g = 0; g < 200; ++g) {
    for (int d = 0; d < 3; ++d) {
      for (uint32_t c = 0; c < kPairFeatures; ++c) {
        samples.rows.push_back(static_cast<float>(random.uniform()));
      }
      samples.gains.push_back((samples.rows[samples.rows.size() - kPairFeatures] - 0.5f) * 0.1f);
    }
    samples.close_decision();
  }
  return samples;
}

}  // namespace

TEST_CASE("a learner finds gains that depend on one column") {
  PairwiseLearner learner(small_learner(), 1);
  learner.set_normalisation(measure_normalisation(simple_samples(1)));
  for (uint64_t step = 0; step < 300; ++step) credit_step(learner, simple_samples(step), 5e-3);
  const Samples fresh = simple_samples(1'000'000);
  const std::vector<float> scores = learner.score(fresh);
  double error = 0;
  for (uint32_t r = 0; r < fresh.row_count(); ++r) error += std::abs(scores[r] - fresh.gains[r]);
  CHECK(error / fresh.row_count() < 0.01);  // gains spread over [-0.05, 0.05]
}

TEST_CASE("normalisation is mean and standard deviation, and leaves constant columns alone") {
  Samples samples;
  for (int r = 0; r < 4; ++r) {
    samples.rows.resize(samples.rows.size() + kPairFeatures, 0.5f);
    samples.rows[samples.rows.size() - kPairFeatures] = r < 2 ? 1.0f : 3.0f;
    samples.gains.push_back(0);
  }
  samples.close_decision();
  const Normalisation n = measure_normalisation(samples);
  CHECK(n.pair.shift[0] == doctest::Approx(2));
  CHECK(n.pair.scale[0] == doctest::Approx(1));
  CHECK(n.pair.shift[1] == doctest::Approx(0.5));
  CHECK(n.pair.scale[1] == 1);
}

TEST_CASE("a saved learner continues exactly as the one it was saved from") {
  PairwiseLearner a(small_learner(), 1), b(small_learner(), 2);
  const Samples samples = simple_samples(3);
  a.set_normalisation(measure_normalisation(samples));
  for (int i = 0; i < 5; ++i) credit_step(a, samples, 1e-3);
  CHECK(a.score(samples) != b.score(samples));
  REQUIRE(b.load(a.save()).ok());
  for (int i = 0; i < 5; ++i) {
    credit_step(a, samples, 1e-3);
    credit_step(b, samples, 1e-3);
  }
  CHECK(a.score(samples) == b.score(samples));
  CHECK(a.policy() == b.policy());
}

TEST_CASE("a learner that begins with a policy is that policy") {
  PairwiseLearner a(small_learner(), 1), b(small_learner(), 2);
  const Samples samples = simple_samples(3);
  a.set_normalisation(measure_normalisation(samples));
  for (int i = 0; i < 5; ++i) credit_step(a, samples, 1e-2);
  REQUIRE(b.begin_with(a.policy()).ok());
  const std::vector<float> x = a.score(samples), y = b.score(samples);
  for (size_t i = 0; i < x.size(); ++i) CHECK(y[i] == doctest::Approx(x[i]).epsilon(1e-4));
  LearnConfig other = small_learner();
  other.hidden = {7};
  CHECK(b.begin_with(PairwiseLearner(other, 1).policy()).code() == StatusCode::kBadInput);
}

TEST_CASE("a pair feature that a policy does not know counts for nothing at first") {
  PairwiseLearner a(small_learner(), 1), zero(small_learner(), 2), without(small_learner(), 3);
  const Samples samples = simple_samples(3);
  const Normalisation measured = measure_normalisation(samples);
  a.set_normalisation(measured);
  for (int i = 0; i < 5; ++i) credit_step(a, samples, 1e-2);
  PolicySpec policy = a.policy();
  constexpr size_t kUnknown = 1;
  PolicyTensor& first = policy.tensors[0];
  const auto row = first.data.begin() + static_cast<ptrdiff_t>(kUnknown * first.shape[1]);
  const auto row_end = row + static_cast<ptrdiff_t>(first.shape[1]);
  std::fill(row, row_end, 0.0f);
  REQUIRE(zero.begin_with(policy).ok());
  policy.pair_features.erase(policy.pair_features.begin() + kUnknown);
  first.data.erase(row, row_end);
  --first.shape[0];
  REQUIRE(without.begin_with(policy).ok());
  CHECK(without.score(samples) == zero.score(samples));
  without.set_normalisation(measured);  // of that feature alone
  CHECK(without.score(samples) == zero.score(samples));
  CHECK(without.policy().pair_features[kUnknown].scale == measured.pair.scale[kUnknown]);
  CHECK(without.policy().pair_features[0] == zero.policy().pair_features[0]);
  policy.pair_features[0].name = "no such feature";
  CHECK(without.begin_with(policy).code() == StatusCode::kBadInput);
}

TEST_CASE("a learner of a graph network may begin with a head alone, and then learns from it") {
  LearnConfig config = small_learner();
  PairwiseLearner head(config, 1);
  Samples samples = simple_samples(3);
  head.set_normalisation(measure_normalisation(samples));
  for (int i = 0; i < 5; ++i) credit_step(head, samples, 1e-2);
  const std::vector<float> expected = head.score(samples);

  config.embedding = 4;
  PairwiseLearner whole(config, 2);
  GraphState state{std::vector<float>(2 * kNodeFeatures, 0.5f), {0}, {1}};  // 0 -> 1
  state.rows[0] = 1;
  samples.graphs.push_back(std::make_shared<const GraphState>(state));
  for (uint32_t g = 0; g < samples.decisions(); ++g) {
    samples.close_members(std::vector<uint32_t>{g % 2});
  }
  REQUIRE(whole.begin_with(head.policy()).ok());
  whole.set_normalisation(measure_normalisation(samples));
  const std::vector<float> scores = whole.score(samples);
  for (size_t i = 0; i < scores.size(); ++i) CHECK(scores[i] == doctest::Approx(expected[i]));
  // From now on gains depend on which node the group is.
  for (uint32_t r = 0; r < samples.row_count(); ++r) samples.gains[r] = r / 3 % 2 ? 0.02f : -0.02f;
  for (int i = 0; i < 200; ++i) credit_step(whole, samples, 1e-2);
  double error = 0;
  const std::vector<float> learned = whole.score(samples);
  for (size_t i = 0; i < learned.size(); ++i) error += std::abs(learned[i] - samples.gains[i]);
  CHECK(error / double(learned.size()) < 0.004);
}

TEST_CASE("imitation makes what the expert did more likely, and leaves alone what is not known") {
  LearnConfig config = small_learner();
  config.imitation = 20;
  PairwiseLearner learner(config, 1);
  Samples samples = simple_samples(3);
  for (uint32_t g = 0; g < samples.decisions(); ++g) {
    samples.expert[g] = g % 2 == 0 ? 1 : Samples::kNoExpert;
  }
  const double before = credit_step(learner, samples, 3e-3).imitation;
  double after = before;
  for (int i = 0; i < 100; ++i) after = credit_step(learner, samples, 3e-3).imitation;
  CHECK(after < 0.8 * before);
  std::fill(samples.expert.begin(), samples.expert.end(), Samples::kNoExpert);
  CHECK(credit_step(learner, samples, 3e-3).imitation == 0);
}

TEST_CASE("bytes that are no learner's state are refused") {
  PairwiseLearner learner(small_learner(), 1);
  CHECK(learner.load("nonsense").code() == StatusCode::kBadInput);
  LearnConfig other = small_learner();
  other.hidden = {7};
  CHECK(learner.load(PairwiseLearner(other, 1).save()).code() == StatusCode::kBadInput);
}
