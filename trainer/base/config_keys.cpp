#include "trainer/base/config_keys.h"

#include <algorithm>
#include <iterator>

#include "runtime/policy/file/architecture.h"
#include "trainer/base/family_names.h"

namespace placeto::train {
namespace {

// A member of Config, as a slot.
#define AT(member) [](Config& c) -> Slot { return &c.member; }

constexpr double kMillion = 1'000'000;

void set_published(Config& config) {
  EpisodesConfig& episodes = config.episodes;
  episodes.learning_rate = 1e-3, episodes.final_learning_rate = 1e-4;
  episodes.baseline = 10;
}

void set_leaps(Config& config) {
  config.collect.decisions = 4'000;
  config.learn.decisions = 2'048;
  config.learn.embedding = 24;
  config.learn.graph_hidden = {32};
  config.learn.leap = 48;
  config.learn.states = 4;
  config.learn.steps = 100;
  config.learn.start = "default";
}

constexpr AlgorithmInfo kAlgorithms[] = {
    {.name = "credit",
     .meaning = "the cost model says what every alternative device would give",
     .pairwise = true,
     .placeto = false,
     .records_decisions = true},
    {.name = "leaps",
     .meaning =
         "long searches show where to move everything at once, most of use for graphs of one's own",
     .pairwise = true,
     .placeto = false,
     .teaches_leaps = true,
     .set_defaults = set_leaps},
    {.name = "reinforce",
     .meaning = "as published",
     .pairwise = false,
     .placeto = true,
     .runs_episodes = true,
     .keeps_baseline = true,
     .set_defaults = set_published},
    {.name = "siblings",
     .meaning = "episodes on one graph judge each other",
     .pairwise = true,
     .placeto = true,
     .runs_episodes = true,
     .compares_siblings = true},
};

std::vector<std::string> algorithm_names() {
  std::vector<std::string> names;
  for (const AlgorithmInfo& algorithm : kAlgorithms) names.emplace_back(algorithm.name);
  return names;
}

// "reinforce and siblings".
template <class IsMeant>
std::string names_of(const IsMeant& is_meant) {
  std::string text;
  for (const AlgorithmInfo& algorithm : kAlgorithms) {
    if (is_meant(algorithm)) text += (text.empty() ? "" : " and ") + std::string(algorithm.name);
  }
  return text;
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

bool is_pairwise(const Config& c) {
  return c.architecture == "pairwise";
}
bool has_own_graphs(const Config& c) {
  return !c.data.graphs.empty();
}
bool draws_problems(const Config& c) {
  return !has_own_graphs(c) && c.data.set == "mixed";
}

template <bool AlgorithmInfo::*does>
bool algorithm_does(const Config& c) {
  const AlgorithmInfo* algorithm = find_algorithm(c.algorithm);
  return algorithm != nullptr && algorithm->*does;
}

// Before the readers, which point to them.
const std::string kRecorders = algorithms_that(&AlgorithmInfo::records_decisions);
const std::string kByRecorders = "by " + kRecorders;
const std::string kLeapers = algorithms_that(&AlgorithmInfo::teaches_leaps);
const std::string kByLeapers = "by " + kLeapers;
const std::string kCollectors =
    names_of([](const AlgorithmInfo& a) { return a.records_decisions || a.teaches_leaps; });
const std::string kByCollectors = "by " + kCollectors;
const std::string kByBaselines = "by " + algorithms_that(&AlgorithmInfo::keeps_baseline);
const std::string kBySiblings = "by " + algorithms_that(&AlgorithmInfo::compares_siblings);
const std::string kRunners = algorithms_that(&AlgorithmInfo::runs_episodes);
const std::string kByRunners = "by " + kRunners;
const std::string kByPairwiseRunners =
    "by " + names_of([](const AlgorithmInfo& a) { return a.runs_episodes && a.pairwise; }) +
    " for pairwise";

const Readers kRecorded = {kByRecorders.c_str(), algorithm_does<&AlgorithmInfo::records_decisions>};
const Readers kLeaps = {kByLeapers.c_str(), algorithm_does<&AlgorithmInfo::teaches_leaps>};
const Readers kCollected = {kByCollectors.c_str(), [](const Config& c) {
                              return kRecorded.include(c) || kLeaps.include(c);
                            }};
const Readers kBaselines = {kByBaselines.c_str(), algorithm_does<&AlgorithmInfo::keeps_baseline>};
const Readers kSiblings = {kBySiblings.c_str(), algorithm_does<&AlgorithmInfo::compares_siblings>};
const Readers kEpisodes = {kByRunners.c_str(), algorithm_does<&AlgorithmInfo::runs_episodes>};
const Readers kRollouts = {kByPairwiseRunners.c_str(),
                           [](const Config& c) { return is_pairwise(c) && kEpisodes.include(c); }};
constexpr Readers kPairwise = {"for pairwise", is_pairwise};
constexpr Readers kPlaceto = {"for placeto", [](const Config& c) { return !is_pairwise(c); }};
constexpr Readers kOwn = {"on graphs of one's own", has_own_graphs};
constexpr Readers kNotOwn = {"without graphs of one's own",
                             [](const Config& c) { return !has_own_graphs(c); }};
constexpr Readers kFamilies = {"for placeto on a family", [](const Config& c) {
                                 return !is_pairwise(c) && !has_own_graphs(c) && !draws_problems(c);
                               }};
constexpr Readers kMerged = {"for placeto on a family and on graphs of one's own",
                             [](const Config& c) { return !is_pairwise(c) && !draws_problems(c); }};
constexpr Readers kDrawn = {"on mixed", draws_problems};
constexpr Readers kDrawnOnce = {
    "for placeto on mixed", [](const Config& c) { return !is_pairwise(c) && draws_problems(c); }};
// `placeto` draws problems of `devices` devices.
constexpr Readers kDrawnForAny = {
    "for pairwise on mixed", [](const Config& c) { return is_pairwise(c) && draws_problems(c); }};
// Those that comparisons are on, too.
constexpr Readers kHeldOut = {"for pairwise and on graphs of one's own",
                              [](const Config& c) { return is_pairwise(c) || has_own_graphs(c); }};

// Before the keys, which point to them.
const std::string kAlgorithmMeaning = meanings_of_algorithms();
const std::string kArchitectureMeaning = needs_of_placeto();
const std::string kSetMeaning =
    "mixed: problems drawn on the fly; " + families_text() + ": the seen half of a family";

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
    {"", "seed", AT(seed), &kAnyRun,
     "of problems, initial weights and minibatches; same seed, same policy"},
    {.section = "",
     .name = "iterations",
     .slot = AT(iterations),
     .meaning = "of collecting and learning",
     .least = 1,
     .may_change = true},
    {.section = "",
     .name = "threads",
     .slot = AT(threads),
     .meaning = "that collect and, with placeto, learn; 0: one per processor. Changes no weight",
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
    {"data", "held_out_share", AT(data.held_out_share), &kOwn,
     "of one's own graphs, drawn by seed: checked on, not learned from", 0, 0.9},
    {.section = "data",
     .name = "set",
     .slot = AT(data.set),
     .readers = &kNotOwn,
     .meaning = kSetMeaning.c_str(),
     .words = with_families({"mixed"})},
    {"data", "devices", AT(data.devices), &kPlaceto,
     "of a family's problems; with placeto, of mixed ones too", 2, 64},
    {.section = "data",
     .name = "merged_nodes",
     .slot = AT(data.merged_nodes),
     .readers = &kMerged,
     .meaning = "a family's operators are merged into at most so many nodes; 0: not merged",
     .most = 100'000,
     .formerly = "groups"},
    {"data", "only", AT(data.only), &kFamilies,
     "train on this one graph of the family: 1-16 seen, 17-32 unseen; 0: all seen", 0, 32},
    {"data", "fixed_graphs", AT(data.fixed_graphs), &kDrawnOnce,
     "placeto on mixed: so many are drawn once. What follows is of mixed", 1, 10'000},
    {"data", "min_nodes", AT(data.min_nodes), &kDrawn, "of random graphs: log-uniform", 4, 100'000},
    {"data", "max_nodes", AT(data.max_nodes), &kDrawn, "", 4, 100'000},
    {"data", "large_share", AT(data.large_share), &kDrawn,
     "of random graphs that have large_nodes instead", 0, 1},
    {"data", "large_nodes", AT(data.large_nodes), &kDrawn, "", 4, 100'000},
    {"data", "network_share", AT(data.network_share), &kDrawn,
     "of problems that are named networks, for inference or training", 0, 1},
    {"data", "max_network_nodes", AT(data.max_network_nodes), &kDrawn,
     "networks with more nodes are drawn again", 100, 100'000},
    {"data", "min_ccr", AT(data.min_ccr), &kDrawn,
     "communication-to-computation ratio of random graphs: log-uniform", 1e-4, 1e4},
    {"data", "max_ccr", AT(data.max_ccr), &kDrawn, "", 1e-4, 1e4},
    {"data", "max_devices", AT(data.max_devices), &kDrawnForAny, "from 2 on", 2, 64},
    {"data", "unlike_share", AT(data.unlike_share), &kDrawn,
     "of topologies with slower devices, or several kinds, or links of their own", 0, 1},
    {"data", "irregular_share", AT(data.irregular_share), &kDrawn,
     "of the other topologies, where devices have adapters of their own, some pairs have bridges, "
     "or links share channels at random",
     0, 1},
    {"data", "memory_share", AT(data.memory_share), &kDrawn, "of problems with limited memory", 0,
     1},

    {"collect", "problems", AT(collect.problems), &kCollected, "", 1, 100'000},
    {.section = "collect",
     .name = "decisions",
     .slot = AT(collect.decisions),
     .readers = &kCollected,
     .meaning = "recorded of each problem; each with all its candidate devices",
     .least = 1,
     .most = kMillion,
     .formerly = "groups"},
    {"collect", "min_evaluations", AT(collect.min_evaluations), &kRecorded,
     "length of the searches that visit states: log-uniform", 1, 10 * kMillion},
    {"collect", "max_evaluations", AT(collect.max_evaluations), &kRecorded, "", 1, 10 * kMillion},
    {"collect", "expert_evaluations", AT(collect.expert_evaluations), &kLeaps,
     "length of the search of each problem whose placement is learned", 1, 10 * kMillion},

    {"learn", "hidden", AT(learn.hidden), &kPairwise, "hidden layers of the head", 1,
     kMaxLayerWidth},
    {"learn", "embedding", AT(learn.embedding), &kCollected,
     "floats per node that a graph network adds; 0: no graph network", 0, kMaxLayerWidth},
    {"learn", "rounds", AT(learn.rounds), &kCollected,
     "of its message passing, each along the edges and against them", 0, kMaxRounds},
    {"learn", "graph_hidden", AT(learn.graph_hidden), &kCollected,
     "hidden layers of its encoder and of each f and g of its messages", 1, kMaxLayerWidth},
    {"learn", "leap", AT(learn.leap), &kLeaps,
     "width of both hidden layers of the network of leaps", 0, kMaxLayerWidth},
    {.section = "learn",
     .name = "states",
     .slot = AT(learn.states),
     .readers = &kCollected,
     .meaning = "of graphs that a minibatch's decisions are about, with embedding",
     .least = 1,
     .most = kMillion,
     .formerly = "graphs"},
    {"learn", "window", AT(learn.window), &kRecorded, "iterations whose records are learned from",
     1, 10'000},
    {"learn", "steps", AT(learn.steps), &kCollected, "of the optimizer (Adam), in each iteration",
     1, kMillion},
    {.section = "learn",
     .name = "decisions",
     .slot = AT(learn.decisions),
     .readers = &kCollected,
     .meaning = "in a minibatch",
     .least = 1,
     .most = kMillion,
     .formerly = "groups"},
    {"learn", "learning_rate", AT(learn.learning_rate), &kCollected, "falls linearly ...", 0, 1},
    {"learn", "final_learning_rate", AT(learn.final_learning_rate), &kCollected,
     "... to this; left out, to the default but not above learning_rate. So with all that fall", 0,
     1},
    {"learn", "least_gain", AT(learn.least_gain), &kPairwise,
     "decreases of log makespan are clamped to this range; placing takes bad moves back, so how "
     "bad "
     "one is matters little",
     -10, -1e-4},
    {"learn", "most_gain", AT(learn.most_gain), &kPairwise, "", 1e-4, 10},
    {"learn", "improving_weight", AT(learn.improving_weight), &kPairwise,
     "extra weight of moves that improve, in the regression", 0, 1'000},
    {"learn", "all_action_weight", AT(learn.all_action_weight), &kPairwise,
     "of the expected gain under softmax(scores), against the regression", 0, 1'000},
    {"learn", "averaging", AT(learn.averaging), &kPairwise,
     "of the weights over steps; the average is what ships", 0, 0.999999},
    {"learn", "imitation", AT(learn.imitation), &kRecorded,
     "credit: weight of imitating what the search made of the policy's placement", 0, 1'000},
    {"learn", "start", AT(learn.start), &kAnyRun,
     "policy file to begin with, or \"default\", the one that ships, instead of weights drawn by "
     "seed; "
     "it may lack the graph network"},
    {"learn", "grid", AT(learn.grid), &kPairwise,
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

    {"placeto", "rounds", AT(placeto.rounds), &kPlaceto, "of message passing", 0, kMaxRounds},
    {"placeto", "averaging", AT(placeto.averaging), &kPlaceto,
     "of the weights over steps; the average is what ships", 0, 0.999999},

    {"episodes", "graphs", AT(episodes.graphs), &kEpisodes, "drawn in each iteration", 1, 10'000},
    {"episodes", "rollouts", AT(episodes.rollouts), &kEpisodes,
     "episodes on each, all from one start", 1, 10'000},
    {"episodes", "passes", AT(episodes.passes), &kEpisodes, "over all nodes, in an episode", 1,
     1'000},
    {"episodes", "temperature", AT(episodes.temperature), &kRollouts,
     "pairwise: choices are drawn from softmax(scores / temperature)", 1e-6, 1e3},
    {.section = "episodes",
     .name = "starts",
     .slot = AT(episodes.starts),
     .readers = &kEpisodes,
     .meaning = "of an episode: drawn from these",
     .words = {"heuristic", "single", "random"}},
    {"episodes", "baseline", AT(episodes.baseline), &kBaselines,
     "reinforce: recent episodes (of a graph and kind of start) that returns are compared with", 1,
     100'000},
    {"episodes", "epochs", AT(episodes.epochs), &kSiblings,
     "siblings: how often an iteration's episodes are learned from; reinforce: once", 1, 1'000},
    {"episodes", "batches", AT(episodes.batches), &kEpisodes,
     "steps of the optimizer in which that is done, each on its share of the episodes", 1, 10'000},
    {"episodes", "clip", AT(episodes.clip), &kSiblings, "siblings: of ratios of probabilities",
     1e-6, 10},
    {"episodes", "entropy", AT(episodes.entropy), &kEpisodes,
     "weight of the bonus; falls linearly ...", 0, 1'000},
    {"episodes", "final_entropy", AT(episodes.final_entropy), &kEpisodes, "... to this", 0, 1'000},
    {"episodes", "all_action", AT(episodes.all_action), &kEpisodes,
     "weight of the exact gain of every alternative device (an iteration's are scaled to unit mean "
     "square); likewise; published: 0, and with much of it choices are soon certain",
     0, 1'000},
    {"episodes", "final_all_action", AT(episodes.final_all_action), &kEpisodes, "... to this", 0,
     1'000},
    {"episodes", "discount", AT(episodes.discount), &kPlaceto,
     "placeto: of the reward one step later; 1, as published: none", 0, 1},
    {"episodes", "reward_scale", AT(episodes.reward_scale), &kBaselines,
     "reinforce: rewards are decreases of makespan over the best heuristic's, times this", 1e-6,
     1e6},
    {"episodes", "memory_penalty", AT(episodes.memory_penalty), &kEpisodes,
     "of exceeding memory by as much as there is; the best heuristic's makespan: 1", 0, 1e6},
    {"episodes", "steps", AT(episodes.steps), &kPlaceto,
     "placeto: of an episode that gradients are computed of, drawn at random; 0: all", 0, kMillion},
    {"episodes", "learning_rate", AT(episodes.learning_rate), &kEpisodes,
     "Adam's; falls linearly ...", 0, 1},
    {"episodes", "final_learning_rate", AT(episodes.final_learning_rate), &kEpisodes, "... to this",
     0, 1},
    {"episodes", "most_gradient", AT(episodes.most_gradient), &kPlaceto,
     "placeto: norm that gradients are clipped to", 1e-9, 1e9},

    {.section = "check",
     .name = "every",
     .slot = AT(check.every),
     .meaning =
         "iterations; on held-out problems, greedy and with search (placeto: greedy, on the graphs "
         "it learns from; leaps: all of place, on what is learned from, if that is one's own)",
     .least = 1,
     .may_change = true},
    {.section = "check",
     .name = "problems",
     .slot = AT(check.problems),
     .readers = &kHeldOut,
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

const std::string kCollectMeaning = "in each iteration of " + kCollectors;
const std::string kLearnMeaning = "networks of pairwise, and how they learn by " + kCollectors;
const std::string kEpisodesMeaning = "of " + kRunners;

const ConfigSection kSections[] = {
    {"data", "what is learned on"},
    {"collect", kCollectMeaning.c_str()},
    {"learn", kLearnMeaning.c_str()},
    {"placeto", "networks of placeto: widths as published, multiples of 5 + devices"},
    {"episodes", kEpisodesMeaning.c_str()},
    {"check", "how good the policy is, and what is kept"}};

}  // namespace

std::string full_name(const ConfigKey& key) {
  return (*key.section == '\0' ? "" : std::string(key.section) + ".") + key.name;
}

std::string algorithms_that(bool AlgorithmInfo::*does) {
  return names_of([does](const AlgorithmInfo& algorithm) { return algorithm.*does; });
}

const AlgorithmInfo* find_algorithm(std::string_view name) {
  const auto* at = std::ranges::find(kAlgorithms, name, &AlgorithmInfo::name);
  return at == std::end(kAlgorithms) ? nullptr : at;
}

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
