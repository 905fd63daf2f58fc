// Dynamic programming over (groups taken, devices taken): Bokhari, "Partitioning problems in
// parallel, pipelined, and distributed computing", IEEE Transactions on Computers 1988; with sets
// of unlike devices as in Narayanan et al., "PipeDream", SOSP 2019.
#include <algorithm>
#include <numeric>
#include <optional>

#include "runtime/base/no_index.h"
#include "runtime/cost/twins.h"
#include "runtime/heuristics/pipeline.h"
#include "runtime/heuristics/serial_memory.h"

namespace placeto {
namespace {

// Sets of devices told apart; places to cut, thinned out so that the table takes no more steps,
// over sets as over tensors.
constexpr uint32_t kMostSets = 1'024, kMostPlaces = 512, kLeastPlaces = 48;
constexpr double kMostTableSteps = 3e7;
// What it takes to add a tensor at all moments.
constexpr size_t kCopying = Stop::looked_up(SerialMemory::kMoments);

class PipelineSplits {
 public:
  PipelineSplits(const Problem& problem, const std::vector<uint32_t>& order, const MemoryPlan& plan,
                 std::optional<StageMemory> memory, Stop* stop)
      : problem_(problem), order_(order), plan_(plan), memory_(memory), stop_(stop) {
    find_prices();
    choose_kinds();
    choose_places();
  }

  Assignment run() {
    if (stopped(stop_)) return {};
    sum_up();
    if (stopped(stop_)) return {};
    fill_table();
    return stopped(stop_) ? Assignment() : trace();
  }

 private:
  bool is_chain() const { return !memory_; }

  // Devices that are alike but for their links.
  struct Kind {
    std::vector<uint32_t> devices;
    uint32_t stride;
    std::vector<double> work_us;     // of the groups before each place
    std::vector<uint32_t> excluded;  // how many of them may not run there
  };
  // A tensor, at the places of its producer and its readers: where groups wait for each other in a
  // circle, some read before it is made. `back`: the last of these; kNoIndex: there is none.
  struct Tensor {
    double us, bytes;
    uint32_t output, from, first, last, back;
  };
  struct Read {
    uint32_t tensor, before;  // the place where it was read last before; kNoIndex: it is the first
  };
  // Tensors by what a place does with them.
  struct Here {
    std::vector<uint32_t> made, ended;
    std::vector<Read> read;
    double inside_bytes = 0;  // of tensors that pass no place, and of workspace
  };
  struct Step {
    uint32_t begin = kNoIndex, kind = 0;
  };

  void find_prices() {
    const Topology& topology = problem_.topology();
    const uint32_t devices = problem_.device_count();
    gap_us_ = topology.spec().default_link.gap_us;
    if (topology.uniform_links() || devices < 2) return;
    gap_us_ = 0;
    for (uint32_t a = 0; a < devices; ++a) {
      for (uint32_t b = 0; b < devices; ++b) gap_us_ += a == b ? 0 : topology.link(a, b).gap_us;
      if (spend(stop_, devices)) return;
    }
    gap_us_ /= static_cast<double>(devices) * (devices - 1);
  }

  bool alike(uint32_t a, uint32_t b) const {
    return plan_.room(a) == plan_.room(b) && interchangeable(problem_, a, b, stop_);
  }

  // As many devices as there may be sets of them told apart.
  void choose_kinds() {
    sets_ = 1;
    for (uint32_t d = 0; d < problem_.device_count(); ++d) {
      const auto same = std::find_if(kinds_.begin(), kinds_.end(),
                                     [&](const Kind& k) { return alike(k.devices[0], d); });
      if (spend(stop_, Stop::compared(kinds_.size() * order_.size()))) return;
      const auto count = same == kinds_.end() ? 1 : same->devices.size() + 1;
      const auto sets = sets_ / count * (count + 1);
      if (sets > kMostSets) continue;
      if (same == kinds_.end()) {
        kinds_.push_back({{d}, 0, {}, {}});
      } else {
        same->devices.push_back(d);
      }
      sets_ = 1;
      for (Kind& kind : kinds_) {
        kind.stride = sets_;
        sets_ *= static_cast<uint32_t>(kind.devices.size() + 1);
      }
    }
  }

  // Cuts between groups, or where the fewest bytes pass among neighbouring ones.
  void choose_places() {
    const auto groups = static_cast<uint32_t>(order_.size());
    position_.resize(problem_.group_count());
    for (uint32_t i = 0; i < groups; ++i) position_[order_[i]] = i;
    const Graph& graph = problem_.graph();
    const double sets = static_cast<double>(sets_) * static_cast<double>(kinds_.size());
    const double tensors = static_cast<double>(graph.output_count()) + graph.edge_count();
    uint32_t most = kMostPlaces;
    while (most > kLeastPlaces && most * (sets * most / 2 + tensors) > kMostTableSteps) most /= 2;
    places_ = std::min(groups, most);
    place_of_.resize(groups);
    if (places_ == groups) {
      std::iota(place_of_.begin(), place_of_.end(), 0u);
      return;
    }
    const std::vector<double> passing = passing_bytes();
    for (uint32_t place = 0, begin = 0; place < places_; ++place) {
      const auto share = [&](uint32_t p) {
        return static_cast<uint32_t>(uint64_t{groups} * (2 * p + 1) / (2 * places_));
      };
      uint32_t end = groups;
      if (place + 1 < places_) {
        const auto first = passing.begin() + std::max(begin + 1, share(place));
        const auto last = passing.begin() + std::max(begin + 2, share(place + 1));
        end = static_cast<uint32_t>(std::min_element(first, last) - passing.begin());
      }
      for (uint32_t i = begin; i < end; ++i) place_of_[i] = place;
      begin = end;
    }
  }

  // Before each position of the order.
  std::vector<double> passing_bytes() {
    const Graph& graph = problem_.graph();
    std::vector<double> bytes(order_.size() + 1, 0);
    for (uint32_t o = 0; o < graph.output_count(); ++o) {
      const uint32_t from = position_[problem_.group_of(graph.producer(o))];
      uint32_t last = from;
      for (const uint32_t w : watched(graph.consumers(o), stop_)) {
        last = std::max(last, position_[problem_.group_of(w)]);
      }
      bytes[from + 1] += static_cast<double>(graph.output_bytes(o));
      bytes[last + 1] -= static_cast<double>(graph.output_bytes(o));
      if (spend(stop_, 1 + graph.consumers(o).size())) break;
    }
    std::partial_sum(bytes.begin(), bytes.end(), bytes.begin());
    return bytes;
  }

  uint32_t place(uint32_t node) const { return place_of_[position_[problem_.group_of(node)]]; }

  void sum_up() {
    footprint_.assign(places_ + 1, 0);
    resident_.assign(places_ + 1, 0);
    for (Kind& kind : kinds_) {
      kind.work_us.assign(places_ + 1, 0);
      kind.excluded.assign(places_ + 1, 0);
    }
    for (const uint32_t g : order_) {
      const uint32_t at = place_of_[position_[g]] + 1;
      if (plan_.limited()) footprint_[at] += plan_.footprint(g);
      resident_[at] += static_cast<double>(problem_.resident_bytes(g));
      for (Kind& kind : kinds_) {
        if (!problem_.allowed(g, kind.devices[0])) {
          ++kind.excluded[at];
          continue;
        }
        for (const uint32_t v : watched(problem_.members(g), stop_)) {
          kind.work_us[at] += problem_.occupied_us(v, kind.devices[0]);
        }
      }
      if (spend(stop_, kinds_.size() * problem_.members(g).size())) return;
    }
    std::partial_sum(footprint_.begin(), footprint_.end(), footprint_.begin());
    std::partial_sum(resident_.begin(), resident_.end(), resident_.begin());
    for (Kind& kind : kinds_) {
      std::partial_sum(kind.work_us.begin(), kind.work_us.end(), kind.work_us.begin());
      std::partial_sum(kind.excluded.begin(), kind.excluded.end(), kind.excluded.begin());
    }
    list_tensors();
    if (is_chain()) find_serial_memory();
  }

  void find_serial_memory() {
    const Graph& graph = problem_.graph();
    serial_.emplace(graph, stop_);
    if (stopped(stop_)) return;
    serial_bytes_.assign(places_ + 1, {});
    for (uint32_t o = 0; o < graph.output_count(); ++o) {
      const auto bytes = static_cast<double>(graph.output_bytes(o));
      serial_->add(o, bytes, serial_bytes_[place(graph.producer(o)) + 1]);
      if (spend(stop_, 1 + kCopying)) return;
    }
    for (uint32_t p = 0; p < places_; ++p) {
      for (uint32_t m = 0; m < SerialMemory::kMoments; ++m) {
        serial_bytes_[p + 1][m] += serial_bytes_[p][m];
      }
    }
  }

  void list_tensors() {
    const Graph& graph = problem_.graph();
    here_.resize(places_);
    std::vector<uint32_t> readers;
    for (uint32_t v = 0; v < graph.node_count(); ++v) {
      double& bytes = here_[place(v)].inside_bytes;
      bytes = std::max(bytes, static_cast<double>(graph.node(v).workspace_bytes));
    }
    for (uint32_t o = 0; o < graph.output_count(); ++o) {
      const uint32_t from = place(graph.producer(o));
      readers.clear();
      for (const uint32_t w : watched(graph.consumers(o), stop_)) {
        if (place(w) != from) readers.push_back(place(w));
      }
      if (spend(stop_, 1 + 2 * graph.consumers(o).size())) return;
      if (readers.empty()) {
        here_[from].inside_bytes += static_cast<double>(graph.output_bytes(o));
        continue;
      }
      std::sort(readers.begin(), readers.end());
      readers.erase(std::unique(readers.begin(), readers.end()), readers.end());
      const auto tensor = static_cast<uint32_t>(tensors_.size());
      const auto bytes = static_cast<double>(graph.output_bytes(o));
      const auto later = std::upper_bound(readers.begin(), readers.end(), from);
      const uint32_t first = std::min(from, readers.front()), last = std::max(from, readers.back());
      const uint32_t back = later == readers.begin() ? kNoIndex : *std::prev(later);
      tensors_.push_back({transfer_us(o) + gap_us_, bytes, o, from, first, last, back});
      here_[from].made.push_back(tensor);
      here_[last].ended.push_back(tensor);
      for (size_t i = 0; i < readers.size(); ++i) {
        here_[readers[i]].read.push_back({tensor, i == 0 ? kNoIndex : readers[i - 1]});
      }
    }
  }

  double transfer_us(uint32_t output) const {
    if (problem_.device_count() < 2) return 0;
    if (problem_.topology().uniform_links()) return problem_.transfer_us(output, 0, 1);
    return problem_.mean_transfer_us(output);
  }

  // What passes the ends of a stage: time on channels, tensors and bytes.
  struct Traffic {
    double us = 0, tensors = 0, bytes = 0;
    void add(const Tensor& t) { us += t.us, tensors += 1, bytes += t.bytes; }
    void remove(const Tensor& t) { us -= t.us, tensors -= 1, bytes -= t.bytes; }
  };

  // What a stage holds at a time if it runs its groups in order; tensors that others read, too, as
  // long as those do.
  struct Held {
    double bytes = 0, peak = 0;
    SerialMemory::Bytes copies = {};  // of what other stages make, if all run one after the other
  };

  double stage_us(const Kind& kind, uint32_t begin, uint32_t end, const Traffic& in,
                  const Traffic& out, const Held& held) const {
    const uint32_t device = kind.devices[0];
    if (kind.excluded[end] != kind.excluded[begin]) return kNever;
    if (plan_.limited() && held_bytes(begin, end, held) > plan_.room(device)) return kNever;
    double us = kind.work_us[end] - kind.work_us[begin];
    if (problem_.is_staged()) {
      const DeviceSpec& spec = problem_.topology().device(device);
      us += spec.stage_us + (in.tensors + out.tensors) * spec.cut_us;
      if (spec.cut_bytes_per_us > 0) us += (in.bytes + out.bytes) / spec.cut_bytes_per_us;
    }
    return is_chain() ? us + in.us : std::max({us, in.us, out.us});
  }

  double held_bytes(uint32_t begin, uint32_t end, const Held& held) const {
    if (memory_ == StageMemory::kShare) return footprint_[end] - footprint_[begin];
    const double resident = resident_[end] - resident_[begin];
    if (memory_ == StageMemory::kHeld) return resident + held.peak;
    double most = 0;
    for (uint32_t m = 0; m < SerialMemory::kMoments; ++m) {
      most = std::max(most, serial_bytes_[end][m] - serial_bytes_[begin][m] + held.copies[m]);
    }
    return resident + most;
  }

  // least_us_[place, set]: of the groups before the place on the devices of the set.
  void fill_table() {
    least_us_.assign(size_t{places_ + 1} * sets_, kNever);
    from_.assign(least_us_.size(), {});
    least_us_[0] = 0;
    for (uint32_t begin = 0; begin < places_; ++begin) {
      Traffic in, out;
      Held held;
      for (uint32_t end = begin + 1; end <= places_; ++end) {
        grow(begin, end - 1, in, out, held);
        const double* last = &least_us_[size_t{places_} * sets_];
        const double enough_us = *std::min_element(last, last + sets_);
        bool too_long = true;
        for (uint32_t k = 0; k < kinds_.size(); ++k) {
          const double work = kinds_[k].work_us[end] - kinds_[k].work_us[begin];
          if (work > enough_us) continue;
          too_long = false;
          const double us = stage_us(kinds_[k], begin, end, in, out, held);
          if (us <= enough_us && us < kNever) extend(begin, end, k, us);
        }
        const uint32_t at = end - 1;
        const Here& here = here_[at];
        const size_t tensors = here.made.size() + here.ended.size() + here.read.size();
        const size_t work = 1 + (is_chain() ? kCopying * tensors : tensors);
        if (spend(stop_, work + kinds_.size() * sets_ / 8)) return;
        if (too_long) break;
      }
    }
  }

  // The stage from `begin` on takes in the groups at `place`.
  void grow(uint32_t begin, uint32_t place, Traffic& in, Traffic& out, Held& held) const {
    for (const uint32_t t : here_[place].made) {
      out.add(tensors_[t]);
      held.bytes += tensors_[t].bytes;
      if (tensors_[t].back == kNoIndex || tensors_[t].back < begin) continue;
      in.remove(tensors_[t]);  // what was to come from another stage is made here
      held.bytes -= tensors_[t].bytes;
      copy(t, -1, held);
    }
    for (const uint32_t t : here_[place].ended) {
      if (tensors_[t].from >= begin && tensors_[t].first >= begin) out.remove(tensors_[t]);
    }
    for (const Read& read : here_[place].read) {
      const uint32_t from = tensors_[read.tensor].from;
      const bool made_here = from >= begin && from <= place;
      const bool first = read.before == kNoIndex || read.before < begin;
      if (made_here || !first) continue;
      in.add(tensors_[read.tensor]);
      held.bytes += tensors_[read.tensor].bytes;
      copy(read.tensor, 1, held);
    }
    held.peak = std::max(held.peak, held.bytes + here_[place].inside_bytes);
    for (const uint32_t t : here_[place].ended) held.bytes -= tensors_[t].bytes;
  }

  void copy(uint32_t tensor, double sign, Held& held) const {
    if (!is_chain()) return;
    serial_->add(tensors_[tensor].output, sign * tensors_[tensor].bytes, held.copies);
  }

  void extend(uint32_t begin, uint32_t end, uint32_t k, double us) {
    const Kind& kind = kinds_[k];
    const auto count = static_cast<uint32_t>(kind.devices.size());
    const double* const before = &least_us_[size_t{begin} * sets_];
    const size_t row = size_t{end} * sets_ + kind.stride;
    for (uint32_t set = 0; set < sets_; ++set) {
      if (before[set] == kNever || set / kind.stride % (count + 1) == count) continue;
      const double with_us = is_chain() ? before[set] + us : std::max(before[set], us);
      if (with_us >= least_us_[row + set]) continue;
      least_us_[row + set] = with_us;
      from_[row + set] = {begin, k};
    }
  }

  uint32_t size_of(uint32_t set) const {
    uint32_t size = 0;
    for (const Kind& kind : kinds_) {
      size += set / kind.stride % static_cast<uint32_t>(kind.devices.size() + 1);
    }
    return size;
  }

  Assignment trace() const {
    const double* last = &least_us_[size_t{places_} * sets_];
    uint32_t set = 0;
    for (uint32_t s = 1; s < sets_; ++s) {
      const bool fewer = last[s] == last[set] && size_of(s) < size_of(set);
      if (last[s] < last[set] || (fewer && last[s] < kNever)) set = s;
    }
    if (last[set] == kNever) return {};
    std::vector<uint32_t> device_of(places_);
    for (uint32_t end = places_; end > 0;) {
      const Step step = from_[size_t{end} * sets_ + set];
      const Kind& kind = kinds_[step.kind];
      const uint32_t taken = set / kind.stride % static_cast<uint32_t>(kind.devices.size() + 1);
      for (uint32_t p = step.begin; p < end; ++p) device_of[p] = kind.devices[taken - 1];
      set -= kind.stride;
      end = step.begin;
    }
    Assignment assignment(problem_.node_count());
    for (uint32_t v = 0; v < problem_.node_count(); ++v) assignment[v] = device_of[place(v)];
    return assignment;
  }

  const Problem& problem_;
  const std::vector<uint32_t>& order_;  // groups
  const MemoryPlan& plan_;
  std::optional<StageMemory> memory_;  // of a pipeline
  Stop* stop_;
  double gap_us_ = 0;
  std::vector<Kind> kinds_;
  uint32_t sets_ = 1, places_ = 0;
  std::vector<uint32_t> position_, place_of_;  // of groups; of positions
  std::vector<double> footprint_, resident_;   // before each place
  std::vector<Tensor> tensors_;
  std::vector<Here> here_;  // by place
  std::optional<SerialMemory> serial_;
  std::vector<SerialMemory::Bytes> serial_bytes_;  // before each place
  std::vector<double> least_us_;
  std::vector<Step> from_;
};

}  // namespace

Assignment best_pipeline(const Problem& problem, const std::vector<uint32_t>& order,
                         const MemoryPlan& plan, StageMemory memory, Stop* stop) {
  return PipelineSplits(problem, order, plan, memory, stop).run();
}

Assignment best_chain(const Problem& problem, const std::vector<uint32_t>& order,
                      const MemoryPlan& plan, Stop* stop) {
  return PipelineSplits(problem, order, plan, {}, stop).run();
}

}  // namespace placeto
