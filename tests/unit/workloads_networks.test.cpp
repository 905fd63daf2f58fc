// Parameters and multiply-adds of the named networks against published numbers.
#include "tests/unit/workloads_support.h"
#include "tools/workloads/workload.h"

namespace placeto {
namespace {

// Parameters a training step updates: with plain gradient descent each of them is resident once,
// and each update reads one gradient.
double trainable_parameters(std::string_view name, WorkloadOptions options) {
  options.training = true;
  options.optimizer = Optimizer::kSgd;
  const GraphSpec graph = generated(name, options);
  const std::string update = "update/";
  double bytes = 0;
  for (const EdgeSpec& edge : graph.edges) {
    if (graph.nodes[edge.target].name.compare(0, update.size(), update) != 0) continue;
    bytes += static_cast<double>(graph.nodes[edge.source].outputs[edge.output]);
  }
  return bytes / 4;
}

void check_within(double measured, double published, double share) {
  CAPTURE(measured);
  CAPTURE(published);
  CHECK(measured >= published * (1 - share));
  CHECK(measured <= published * (1 + share));
}

TEST_CASE("Inception-V3 has the published parameters and multiply-adds") {
  // torchvision model card: 27,161,264 parameters with the auxiliary classifier, which has
  // 3,326,696 (1x1 convolution 768-128, 5x5 convolution 128-768, 768-1000 dense), and 5.713
  // billion multiply-adds at 299 x 299 without it.
  CHECK(trainable_parameters("inception_v3", one_sample()) == 27'161'264 - 3'326'696);
  check_within(multiply_adds(generated("inception_v3", one_sample())), 5.713e9, 0.001);
  // Convolution, normalisation and activation are separate: 94 of each, 14 pools, 15
  // concatenations and dense layer, softmax and input.
  CHECK(generated("inception_v3").nodes.size() == 3 * 94 + 14 + 15 + 3);
}

TEST_CASE("ResNet-50 has the published parameters and multiply-adds") {
  // torchvision model card: 25,557,032 parameters, 4.089 billion multiply-adds at 224 x 224.
  CHECK(trainable_parameters("resnet50", one_sample()) == 25'557'032);
  check_within(multiply_adds(generated("resnet50", one_sample())), 4.089e9, 0.001);
}

TEST_CASE("NASNet-A large has the published parameters and multiply-adds") {
  // Zoph et al. 2018, table 2: 88.9 million parameters, 23.8 billion multiply-adds. Keras counts
  // 88,949,818 with the moving averages of its batch normalisations.
  check_within(trainable_parameters("nasnet_a_large", one_sample()), 88.9e6, 0.005);
  CHECK(resident_floats(generated("nasnet_a_large")) == 88'949'818);
  check_within(multiply_adds(generated("nasnet_a_large", one_sample())), 23.8e9, 0.005);
}

TEST_CASE("BERT has the published parameters and multiply-adds") {
  // Devlin et al. 2019: 110M and 340M, rounded; the uncased checkpoints have 109,482,240 and
  // 335,141,888 parameters up to the pooler, BertForPreTraining 110,106,428 in the base size.
  CHECK(resident_floats(generated("bert_base")) == 109'482'240);
  CHECK(resident_floats(generated("bert_large")) == 335'141'888);
  WorkloadOptions training;
  training.training = true;
  training.optimizer = Optimizer::kSgd;
  CHECK(resident_floats(generated("bert_base", training)) == 110'106'428);
  // Jiao et al., "TinyBERT", 2020, table 1: BERT-base 22.5 billion operations for one sequence of
  // 128 tokens.
  WorkloadOptions options = one_sample();
  options.length = 128;
  check_within(2 * multiply_adds(generated("bert_base", options)), 22.5e9, 0.02);
}

TEST_CASE("GPT-2 has the published parameters in every size") {
  // Parameters of the published checkpoints: model cards of gpt2, gpt2-medium, gpt2-large (774M)
  // and gpt2-xl (1.5B); exact numbers as loaded by the transformers library.
  const std::pair<const char*, double> published[] = {{"small", 124'439'808},
                                                      {"medium", 354'823'168},
                                                      {"large", 774'030'080},
                                                      {"xl", 1'557'611'200}};
  for (const auto& [size, parameters] : published) {
    WorkloadOptions options;
    options.size = size;
    CAPTURE(options.size);
    CHECK(resident_floats(generated("gpt2", options)) == parameters);
  }
}

TEST_CASE("GPT-2 has the operations of the formula for transformers") {
  // Hoffmann et al., "Training Compute-Optimal Large Language Models", 2022, appendix F, for one
  // sequence: projections and dense layers 2 operations a parameter and token, attention scores
  // and values 2 length^2 hidden each, logits 2 length hidden vocabulary.
  WorkloadOptions options = one_sample();
  options.length = 1024;
  const double n = 1024, h = 768, layers = 12, vocabulary = 50257;
  const double expected =
      layers * (2 * n * 12 * h * h + 2 * 2 * n * n * h) + 2 * n * h * vocabulary;
  check_within(2 * multiply_adds(generated("gpt2", options)), expected, 0.001);
}

TEST_CASE("the translation network has the published parameters of GNMT") {
  // Wu et al. 2016 as counted by Shazeer et al., "Outrageously Large Neural Networks", ICLR 2017,
  // table 2: 278M parameters (8 layers, 1024 units, 32K word pieces on each side).
  check_within(resident_floats(generated("nmt")), 278e6, 0.02);
}

TEST_CASE("the translation network's operations grow with length, layers and batch") {
  // For each step and sample: 2 operations a parameter of the LSTM layers; source and target run
  // the same number of steps.
  WorkloadOptions options;
  options.batch = 16;
  options.length = 10;
  options.layers = 4;
  options.hidden = 256;
  options.vocabulary = 1000;
  const double h = 256, steps = 16 * 10;
  const double lstm = 4 * h * (2 * 2 * h + 3 * h + 2 * 2 * h) + 4 * h * 4 * 3 * h;
  const double attention = h * h + h * h + h * 10;  // keys, query, context
  const double expected = 2 * steps * (lstm + attention + h * 1000);
  check_within(2 * multiply_adds(generated("nmt", options)), expected, 0.01);
}

TEST_CASE("the mixture of experts has the published parameters of the 15B model") {
  // Artetxe et al. 2022, table 1: 12 layers, hidden 768, 512 experts in every other layer: 15B,
  // which is a rounded number: 14.5 to 15.5.
  WorkloadOptions options;
  options.experts = 512;
  const double parameters = resident_floats(generated("mixture_of_experts", options));
  CHECK(parameters > 14.5e9);
  CHECK(parameters < 15.5e9);
}

TEST_CASE("more experts add parameters, not operations") {
  WorkloadOptions few, many;
  few.experts = 4;
  many.experts = 64;
  const GraphSpec a = generated("mixture_of_experts", few);
  const GraphSpec b = generated("mixture_of_experts", many);
  CHECK(resident_floats(b) > 3 * resident_floats(a));
  check_within(multiply_adds(b), multiply_adds(a), 0.02);  // the router and rounded capacities
}

TEST_CASE("networks from the ENAS spaces have the size of that paper's networks") {
  // Pham et al. 2018: 4.6M parameters for their convolutional network (table 2), 24M for their
  // recurrent one (table 1). Random cells vary, so only the order of magnitude can agree.
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    CAPTURE(seed);
    WorkloadOptions options;
    options.seed = seed;
    const double images = resident_floats(generated("enas_cifar10", options));
    CHECK(images > 4.6e6 / 4);
    CHECK(images < 4.6e6 * 4);
    check_within(resident_floats(generated("enas_ptb", options)), 24e6, 0.10);
  }
}

TEST_CASE("operations and activations scale with the batch, parameters do not") {
  WorkloadOptions large;
  large.batch = 16;
  const GraphSpec one = generated("inception_v3", one_sample());
  const GraphSpec sixteen = generated("inception_v3", large);
  REQUIRE(one.nodes.size() == sixteen.nodes.size());
  for (size_t v = 0; v < one.nodes.size(); ++v) {
    CHECK(sixteen.nodes[v].flops == 16 * one.nodes[v].flops);
    CHECK(sixteen.nodes[v].outputs[0] == 16 * one.nodes[v].outputs[0]);
    CHECK(sixteen.nodes[v].resident_bytes == one.nodes[v].resident_bytes);
  }
}

}  // namespace
}  // namespace placeto
