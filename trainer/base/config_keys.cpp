#include "trainer/base/config_keys.h"

#include "runtime/policy/file/architecture.h"

namespace placeto::train {
namespace {

// A member of Config, as a slot.
#define AT(member) [](Config& c) -> Slot { return &c.member; }

constexpr double kMillion = 1'000'000;

constexpr AlgorithmInfo kAlgorithms[] = {
    {.name = "credit",
     .meaning = "the cost model says what every alternative device would give",
     .pairwise = true,
     .placeto = false},
    {.name = "reinforce", .meaning = "as published", .pairwise = false, .placeto = true},
    {.name = "siblings",
     .meaning = "episodes on one graph judge each other",
     .pairwise = true,
     .placeto = true},
};

std::vector<std::string> algorithm_names() {
  std::vector<std::string> names;
  for (const AlgorithmInfo& algorithm : kAlgorithms) names.emplace_back(algorithm.name);
  return names;
}

std::string meanings_of_algorithms() {
  std::string text;
  for (const AlgorithmInfo& algorithm : kAlgorithms) {
    text += std::string(text.empty() ? "" : "; ") + algorithm.name + ": " + algorithm.meaning;
  }
  return text;
}

std::string needs_of_placeto() {
  std::string text;
  for (const AlgorithmInfo& algorithm : kAlgorithms) {
    if (algorithm.placeto)
      text += (text.empty() ? "placeto needs " : " or ") + std::string(algorithm.name);
  }
  return text;
}

// Before the keys, which point to them.
const std::string kAlgorithmMeaning = meanings_of_algorithms();
const std::string kArchitectureMeaning = needs_of_placeto();

const std::vector<ConfigKey> kKeys = {
    {.section = "",
     .name = "algorithm",
     .slot = AT(algorithm),
     .meaning = kAlgorithmMeaning.c_str(),
     .words = algorithm_names()},
    {.section = "",
     .name = "architecture",
     .slot = AT(architecture),
     .meaning = kArchitectureMeaning.c_str(),
     .words = {"pairwise", "placeto"}},
    {"", "seed", AT(seed), "of problems, initial weights and minibatches; same seed, same policy"},
    {.section = "",
     .name = "iterations",
     .slot = AT(iterations),
     .meaning = "of collecting and learning",
     .least = 1,
     .may_change = true},
    {.section = "",
     .name = "threads",
     .slot = AT(threads),
     .meaning =
         "that collect and, with placeto, learn; 0: one per processor. Never changes the result",
     .most = 1'024,
     .may_change = true},

    // Files may have moved: that they are the same is known by what they hold
    // (RunFolder::keep_inventory).
    {.section = "data",
     .name = "graphs",
     .slot = AT(data.graphs),
     .meaning =
         "files of one's own, *.graph, *.json or *.onnx, as patterns; on each of `topologies`",
     .may_change = true},
    {.section = "data",
     .name = "topologies",
     .slot = AT(data.topologies),
     .meaning = "files, as patterns",
     .may_change = true},
    {"data", "held_out_share", AT(data.held_out_share),
     "of one's own graphs, drawn by seed: checked on, not learned from", 0, 0.9},
    {.section = "data",
     .name = "set",
     .slot = AT(data.set),
     .meaning = "mixed: problems drawn on the fly; cifar10, ptb, nmt: the seen half of a family",
     .words = {"mixed", "cifar10", "ptb", "nmt"}},
    {"data", "devices", AT(data.devices), "of a family's problems; with placeto, of mixed ones too",
     2, 64},
    {.section = "data",
     .name = "merged_nodes",
     .slot = AT(data.merged_nodes),
     .meaning = "a family's operators are merged into at most so many nodes; 0: not merged",
     .most = 100'000,
     .formerly = "groups"},
    {"data", "only", AT(data.only),
     "train on this one graph of the family: 1-16 seen, 17-32 unseen; 0: all seen", 0, 32},
    {"data", "fixed_graphs", AT(data.fixed_graphs),
     "placeto on mixed: so many are drawn once. What follows is of mixed", 1, 10'000},
    {"data", "min_nodes", AT(data.min_nodes), "of random graphs: log-uniform", 4, 100'000},
    {"data", "max_nodes", AT(data.max_nodes), "", 4, 100'000},
    {"data", "large_share", AT(data.large_share), "of random graphs that have large_nodes instead",
     0, 1},
    {"data", "large_nodes", AT(data.large_nodes), "", 4, 100'000},
    {"data", "network_share", AT(data.network_share),
     "of problems that are named networks, for inference or training", 0, 1},
    {"data", "max_network_nodes", AT(data.max_network_nodes),
     "networks with more nodes are drawn again", 100, 100'000},
    {"data", "min_ccr", AT(data.min_ccr),
     "communication-to-computation ratio of random graphs: log-uniform", 1e-4, 1e4},
    {"data", "max_ccr", AT(data.max_ccr), "", 1e-4, 1e4},
    {"data", "max_devices", AT(data.max_devices), "from 2 on", 2, 64},
    {"data", "unlike_share", AT(data.unlike_share),
     "of topologies with slower devices, or several kinds, or links of their own", 0, 1},
    {"data", "irregular_share", AT(data.irregular_share),
     "of the other topologies, where devices have adapters of their own, some pairs have bridges, "
     "or links share channels at random",
     0, 1},
    {"data", "memory_share", AT(data.memory_share), "of problems with limited memory", 0, 1},

    {"collect", "problems", AT(collect.problems), "", 1, 100'000},
    {.section = "collect",
     .name = "decisions",
     .slot = AT(collect.decisions),
     .meaning = "recorded of each problem; each with all its candidate devices",
     .least = 1,
     .most = kMillion,
     .formerly = "groups"},
    {"collect", "min_evaluations", AT(collect.min_evaluations),
     "length of the searches that visit states: log-uniform", 1, 10 * kMillion},
    {"collect", "max_evaluations", AT(collect.max_evaluations), "", 1, 10 * kMillion},

    {"learn", "hidden", AT(learn.hidden), "hidden layers of the head", 1, kMaxLayerWidth},
    {"learn", "embedding", AT(learn.embedding),
     "credit: floats per node that a graph network adds; 0: no graph network", 0, kMaxLayerWidth},
    {"learn", "rounds", AT(learn.rounds),
     "of its message passing, each along the edges and against them", 0, kMaxRounds},
    {"learn", "graph_hidden", AT(learn.graph_hidden),
     "hidden layers of its encoder and of each f and g of its messages", 1, kMaxLayerWidth},
    {.section = "learn",
     .name = "states",
     .slot = AT(learn.states),
     .meaning = "of graphs that a minibatch's decisions are about, with embedding",
     .least = 1,
     .most = kMillion,
     .formerly = "graphs"},
    {"learn", "window", AT(learn.window), "iterations whose records are learned from", 1, 10'000},
    {"learn", "steps", AT(learn.steps), "of the optimizer (Adam), in each iteration", 1, kMillion},
    {.section = "learn",
     .name = "decisions",
     .slot = AT(learn.decisions),
     .meaning = "in a minibatch",
     .least = 1,
     .most = kMillion,
     .formerly = "groups"},
    {"learn", "learning_rate", AT(learn.learning_rate), "falls linearly ...", 0, 1},
    {"learn", "final_learning_rate", AT(learn.final_learning_rate), "... to this", 0, 1},
    {"learn", "least_gain", AT(learn.least_gain),
     "decreases of log makespan are clamped to this range; placing takes bad moves back, so how "
     "bad "
     "one is matters little",
     -10, -1e-4},
    {"learn", "most_gain", AT(learn.most_gain), "", 1e-4, 10},
    {"learn", "improving_weight", AT(learn.improving_weight),
     "extra weight of moves that improve, in the regression", 0, 1'000},
    {"learn", "all_action_weight", AT(learn.all_action_weight),
     "of the expected gain under softmax(scores), against the regression", 0, 1'000},
    {"learn", "averaging", AT(learn.averaging),
     "of the weights over steps; the average is what ships", 0, 0.999999},
    {"learn", "imitation", AT(learn.imitation),
     "credit: weight of imitating what the search made of the policy's placement", 0, 1'000},
    {"learn", "start", AT(learn.start),
     "policy file to begin with, or \"default\", the one that ships, instead of weights drawn by "
     "seed; "
     "it may lack the graph network"},
    {"learn", "grid", AT(learn.grid),
     "above 0: an exact-sum network, whose activations are multiples of 2^-grid, so that every "
     "processor and kernel computes the same bits; 5 is a good choice",
     0, kMaxGrid},
    {.section = "learn",
     .name = "processor",
     .slot = AT(learn.processor),
     .meaning =
         "where LibTorch computes, for placeto too; cuda, a GPU, pays for wide networks alone, and "
         "weights then differ in the last bits from run to run",
     .words = {"cpu", "cuda"},
     .may_change = true},

    {"placeto", "rounds", AT(placeto.rounds), "of message passing", 0, kMaxRounds},
    {"placeto", "averaging", AT(placeto.averaging),
     "of the weights over steps; the average is what ships", 0, 0.999999},

    {"episodes", "graphs", AT(episodes.graphs), "drawn in each iteration", 1, 10'000},
    {"episodes", "rollouts", AT(episodes.rollouts), "episodes on each, all from one start", 1,
     10'000},
    {"episodes", "passes", AT(episodes.passes), "over all nodes, in an episode", 1, 1'000},
    {"episodes", "temperature", AT(episodes.temperature),
     "pairwise: choices are drawn from softmax(scores / temperature)", 1e-6, 1e3},
    {.section = "episodes",
     .name = "starts",
     .slot = AT(episodes.starts),
     .meaning = "of an episode: drawn from these",
     .words = {"heuristic", "single", "random"}},
    {"episodes", "baseline", AT(episodes.baseline),
     "reinforce: recent episodes (of a graph and kind of start) that returns are compared with", 1,
     100'000},
    {"episodes", "epochs", AT(episodes.epochs),
     "siblings: how often an iteration's episodes are learned from; reinforce: once", 1, 1'000},
    {"episodes", "batches", AT(episodes.batches),
     "steps of the optimizer in which that is done, each on its share of the episodes", 1, 10'000},
    {"episodes", "clip", AT(episodes.clip), "siblings: of ratios of probabilities", 1e-6, 10},
    {"episodes", "entropy", AT(episodes.entropy), "weight of the bonus; falls linearly ...", 0,
     1'000},
    {"episodes", "final_entropy", AT(episodes.final_entropy), "... to this", 0, 1'000},
    {"episodes", "all_action", AT(episodes.all_action),
     "weight of the exact gain of every alternative device (an iteration's are scaled to unit mean "
     "square); likewise; published: 0",
     0, 1'000},
    {"episodes", "final_all_action", AT(episodes.final_all_action), "... to this", 0, 1'000},
    {"episodes", "discount", AT(episodes.discount),
     "placeto: of the reward one step later; 1, as published: none", 0, 1},
    {"episodes", "reward_scale", AT(episodes.reward_scale),
     "reinforce: rewards are decreases of makespan over the best heuristic's, times this", 1e-6,
     1e6},
    {"episodes", "memory_penalty", AT(episodes.memory_penalty),
     "of exceeding memory by as much as there is; the best heuristic's makespan: 1", 0, 1e6},
    {"episodes", "steps", AT(episodes.steps),
     "placeto: of an episode that gradients are computed of, drawn at random; 0: all", 0, kMillion},
    {"episodes", "learning_rate", AT(episodes.learning_rate), "Adam's; falls linearly ...", 0, 1},
    {"episodes", "final_learning_rate", AT(episodes.final_learning_rate), "... to this", 0, 1},
    {"episodes", "most_gradient", AT(episodes.most_gradient),
     "placeto: norm that gradients are clipped to", 1e-9, 1e9},

    {.section = "check",
     .name = "every",
     .slot = AT(check.every),
     .meaning =
         "iterations; on held-out problems, greedy and with search (placeto: greedy, on the graphs "
         "it learns from)",
     .least = 1,
     .may_change = true},
    {.section = "check",
     .name = "problems",
     .slot = AT(check.problems),
     .meaning = "",
     .least = 1,
     .most = 10'000,
     .may_change = true},
    {.section = "check",
     .name = "save_every",
     .slot = AT(check.save_every),
     .meaning = "iterations between checkpoints; a check makes one, too",
     .least = 1,
     .may_change = true},
};

constexpr ConfigSection kSections[] = {
    {"data", "what is learned on"},
    {"collect", "in each iteration of credit"},
    {"learn", "networks of pairwise, and how credit learns"},
    {"placeto", "networks of placeto: widths as published, multiples of 5 + devices"},
    {"episodes", "of reinforce and siblings"},
    {"check", "how good the policy is, and what is kept"}};

}  // namespace

std::span<const AlgorithmInfo> algorithms() {
  return kAlgorithms;
}

std::span<const ConfigKey> config_keys() {
  return kKeys;
}

std::span<const ConfigSection> config_sections() {
  return kSections;
}

}  // namespace placeto::train
