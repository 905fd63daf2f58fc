// The list of workloads, and the checks that every one of them shares.
#include "tools/workloads/workload.h"

#include <algorithm>

#include "tools/workloads/networks.h"
#include "tools/workloads/random_graphs.h"

namespace placeto {
namespace {

using O = WorkloadOptions;

// The name of every whole-number option, for those that do not apply to a workload.
constexpr std::pair<std::string_view, uint32_t O::*> kNames[] = {
    {"batch", &O::batch},   {"layers", &O::layers},         {"length", &O::length},
    {"hidden", &O::hidden}, {"vocabulary", &O::vocabulary}, {"experts", &O::experts},
    {"nodes", &O::nodes},   {"width", &O::width},           {"degree", &O::degree}};

constexpr uint32_t kMaxBatch = 65'536, kMaxNodes = Limits{}.max_nodes;
// layers x length of an unrolled network: some 40 nodes each in training, so that the largest
// graph stays within the limits of Graph::build.
constexpr uint64_t kMaxCells = 16'384;
// layers x experts: some 25 nodes for each expert in training.
constexpr uint64_t kMaxExperts = 16'384;

constexpr OptionInfo batch(uint32_t fallback) {
  return {"batch", &O::batch, fallback, 1, kMaxBatch};
}
constexpr OptionInfo length(uint32_t fallback, uint32_t max) {
  return {"length", &O::length, fallback, 1, max};
}
constexpr OptionInfo layers(uint32_t fallback, uint32_t min, uint32_t max) {
  return {"layers", &O::layers, fallback, min, max};
}
constexpr OptionInfo hidden(uint32_t fallback, uint32_t max) {
  return {"hidden", &O::hidden, fallback, 1, max};
}
constexpr OptionInfo vocabulary(uint32_t fallback) {
  return {"vocabulary", &O::vocabulary, fallback, 1, 1'000'000};
}
constexpr OptionInfo nodes(uint32_t min) {
  return {"nodes", &O::nodes, 200, min, kMaxNodes};
}
constexpr OptionInfo width(uint32_t fallback) {
  return {"width", &O::width, fallback, 2, 100'000};
}

constexpr OptionInfo kImageOptions[] = {batch(32)};
constexpr OptionInfo kLargeImageOptions[] = {batch(8)};
constexpr OptionInfo kNmtOptions[] = {batch(64), layers(8, 2, 64), length(20, 2'048),
                                      hidden(1'024, 65'536), vocabulary(32'000)};
constexpr OptionInfo kBertOptions[] = {batch(8), length(128, 512)};
constexpr OptionInfo kGptOptions[] = {batch(1), length(512, 1'024)};
constexpr OptionInfo kMixtureOptions[] = {batch(4),
                                          layers(12, 1, 128),
                                          length(256, 65'536),
                                          hidden(768, 65'536),
                                          vocabulary(51'200),
                                          {"experts", &O::experts, 8, 2, 4'096}};
constexpr OptionInfo kEnasCifarOptions[] = {batch(64), layers(5, 1, 200), hidden(36, 4'096)};
constexpr OptionInfo kEnasPtbOptions[] = {batch(64), layers(12, 1, 64), length(35, 2'048),
                                          hidden(748, 65'536), vocabulary(10'000)};
constexpr OptionInfo kLayeredOptions[] = {nodes(1), width(16)};
constexpr OptionInfo kSeriesParallelOptions[] = {nodes(1)};
constexpr OptionInfo kForkJoinOptions[] = {nodes(1), width(8)};
constexpr OptionInfo kErdosOptions[] = {nodes(1), {"degree", &O::degree, 3, 1, 8}};
constexpr std::string_view kGptSizes[] = {"small", "medium", "large", "xl"};

constexpr WorkloadInfo network(std::string_view name, std::string_view summary,
                               std::span<const OptionInfo> options,
                               Result<GraphSpec> (*build)(const O&), bool seed = false,
                               std::span<const std::string_view> sizes = {}) {
  return {name, summary, options, sizes, true, seed, false, build};
}
constexpr WorkloadInfo family(std::string_view name, std::string_view summary,
                              std::span<const OptionInfo> options,
                              Result<GraphSpec> (*build)(const O&)) {
  return {name, summary, options, {}, false, true, true, build};
}

constexpr WorkloadInfo kWorkloads[] = {
    network("inception_v3", "image classification, 299x299, 23.8M parameters", kImageOptions,
            build_inception_v3),
    network("nasnet_a_large", "image classification, 331x331, 88.9M parameters", kLargeImageOptions,
            build_nasnet_a_large),
    network("resnet50", "image classification, 224x224, 25.6M parameters", kImageOptions,
            build_resnet50),
    network("nmt", "LSTM encoder and decoder with attention, unrolled, as in GNMT", kNmtOptions,
            build_nmt),
    network("bert_base", "transformer encoder, 12 layers, 109M parameters", kBertOptions,
            build_bert_base),
    network("bert_large", "transformer encoder, 24 layers, 335M parameters", kBertOptions,
            build_bert_large),
    network("gpt2", "transformer decoder, 124M to 1.56G parameters", kGptOptions, build_gpt2, false,
            kGptSizes),
    network("mixture_of_experts", "transformer decoder, two of E experts in every other layer",
            kMixtureOptions, build_mixture_of_experts),
    network("enas_cifar10", "random convolutional cells of ENAS; layers: cells in each stage",
            kEnasCifarOptions, build_enas_cifar10, true),
    network("enas_ptb", "random recurrent cell of ENAS, unrolled; layers: nodes of the cell",
            kEnasPtbOptions, build_enas_ptb, true),
    family("layered", "random layers, edges mostly between neighbours", kLayeredOptions,
           build_layered),
    family("series_parallel", "random series-parallel graph", kSeriesParallelOptions,
           build_series_parallel),
    family("fork_join", "random chain of forks and joins", kForkJoinOptions, build_fork_join),
    family("erdos", "random pairs of nodes", kErdosOptions, build_erdos),
};

const WorkloadInfo* find(std::string_view name) {
  const auto it = std::find_if(std::begin(kWorkloads), std::end(kWorkloads),
                               [name](const WorkloadInfo& w) { return w.name == name; });
  return it == std::end(kWorkloads) ? nullptr : it;
}

// "a, b, c" of the names of a list.
template <class List, class Name>
std::string join(const List& list, Name name) {
  std::string text;
  for (const auto& item : list) text += (text.empty() ? "" : ", ") + std::string(name(item));
  return text;
}

std::string applicable(const WorkloadInfo& info) {
  std::string text = join(info.options, [](const OptionInfo& o) { return o.name; });
  if (!info.sizes.empty()) text += ", size";
  if (info.training) text += ", training, optimizer";
  if (info.seed) text += ", seed";
  if (info.ccr) text += ", ccr";
  return text;
}

Status check_numbers(const WorkloadInfo& info, O& options) {
  for (const auto& [name, value] : kNames) {
    const auto it = std::find_if(info.options.begin(), info.options.end(),
                                 [v = value](const OptionInfo& o) { return o.value == v; });
    uint32_t& given = options.*value;
    if (it == info.options.end()) {
      if (given == 0) continue;
      return Status::invalid("option " + std::string(name) + " does not apply, expected only " +
                             applicable(info));
    }
    if (given == 0) given = it->fallback;
    if (given >= it->min && given <= it->max) continue;
    return Status::invalid("option " + std::string(name) + " is " + std::to_string(given) +
                           ", expected " + std::to_string(it->min) + " to " +
                           std::to_string(it->max));
  }
  return {};
}

Status check_others(const WorkloadInfo& info, O& options) {
  const auto not_applicable = [&info](const char* name) {
    return Status::invalid("option " + std::string(name) + " does not apply, expected only " +
                           applicable(info));
  };
  if (options.training && !info.training) return not_applicable("training");
  if (options.optimizer != Optimizer::kAdam && !options.training) {
    return Status::invalid("option optimizer is given without training");
  }
  if (options.seed != 0 && !info.seed) return not_applicable("seed");
  if (options.ccr != 0 && !info.ccr) return not_applicable("ccr");
  if (!options.size.empty() && info.sizes.empty()) return not_applicable("size");
  if (info.ccr && options.ccr == 0) options.ccr = kDefaultCcr;
  if (info.ccr && !(options.ccr >= kMinCcr && options.ccr <= kMaxCcr)) {
    return Status::invalid("option ccr is " + std::to_string(options.ccr) +
                           ", expected 0.0001 to 10000");
  }
  if (info.sizes.empty()) return {};
  if (options.size.empty()) options.size = info.sizes[0];
  if (std::find(info.sizes.begin(), info.sizes.end(), options.size) != info.sizes.end()) return {};
  return Status::invalid("option size is '" + options.size + "', expected one of " +
                         join(info.sizes, [](std::string_view s) { return s; }));
}

// Combinations that would not fit the limits, before anything is built.
Status check_products(const O& options) {
  const uint64_t cells = uint64_t{options.layers} * options.length;
  if (options.experts == 0 && cells > kMaxCells) {
    return Status::invalid("options layers x length are " + std::to_string(cells) +
                           ", expected at most " + std::to_string(kMaxCells));
  }
  const uint64_t experts = uint64_t{options.layers} * options.experts;
  if (experts > kMaxExperts) {
    return Status::invalid("options layers x experts are " + std::to_string(experts) +
                           ", expected at most " + std::to_string(kMaxExperts));
  }
  return {};
}

}  // namespace

std::span<const WorkloadInfo> workloads() {
  return kWorkloads;
}

Result<GraphSpec> generate(std::string_view name, const WorkloadOptions& given) {
  const WorkloadInfo* info = find(name);
  if (info == nullptr) {
    return Status::invalid("no workload '" + std::string(name.substr(0, 64)) +
                           "', expected one of " +
                           join(kWorkloads, [](const WorkloadInfo& w) { return w.name; }));
  }
  const std::string where(name);
  WorkloadOptions options = given;
  if (Status s = check_numbers(*info, options); !s.ok()) return s.at(where);
  if (Status s = check_others(*info, options); !s.ok()) return s.at(where);
  if (Status s = check_products(options); !s.ok()) return s.at(where);
  return info->build(options);
}

}  // namespace placeto
