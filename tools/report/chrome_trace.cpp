#include "tools/report/chrome_trace.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <tuple>
#include <utility>
#include <vector>

#include "tools/io/json_text.h"
#include "tools/report/lanes.h"
#include "tools/report/memory.h"

namespace placeto {
namespace {

using nlohmann::ordered_json;

// Perfetto keeps whole nanoseconds and drops a slice that overlaps the one before it on its track,
// so times are rounded to ticks of a nanosecond here, begin and end alike: order survives rounding.
// Runs of which nanoseconds show nothing have shorter ticks, for other readers, and runs that take
// more of them than can be counted longer ones.
double ticks_per_us(double longest_us) {
  double ticks = 1e3;
  if (longest_us < 0.1) {
    while (longest_us > 0 && longest_us * ticks < 1e6) ticks *= 10;
  }
  while (longest_us * ticks > 1e18) ticks /= 10;
  return ticks;
}

class Writer {
 public:
  Writer(const Problem& problem, std::span<const uint32_t> assignment, const Timeline& timeline)
      : problem_(problem),
        graph_(problem.graph()),
        topology_(problem.topology()),
        assignment_(assignment),
        timeline_(timeline),
        ticks_(ticks_per_us(std::max(timeline.makespan_us, timeline.drain_us))),
        lanes_(transfer_lanes(topology_, timeline)),
        incoming_(assignment.size()),
        outgoing_(assignment.size()) {}

  std::string run() {
    const ordered_json about{{"graph", graph_.name()},
                             {"topology", topology_.name()},
                             {"makespan_us", timeline_.makespan_us}};
    text_ = R"({"displayTimeUnit":"ms","otherData":)" + json_text(about) + R"(,"traceEvents":[)";
    name_tracks();
    connect();
    add_slices();
    add_counters();
    text_ += "]}\n";
    return std::move(text_);
  }

 private:
  struct Slice {
    int64_t begin, end;
    uint32_t rank;  // at equal times a producer precedes its transfer, and that its consumers
    bool transfer;
    uint32_t index;  // node, or position in Timeline::transfers
  };

  int64_t to_ticks(double us) const { return std::llround(us * ticks_); }
  double to_us(int64_t ticks) const { return static_cast<double>(ticks) / ticks_; }

  uint32_t track_of_device(uint32_t device) const { return device + 1; }
  uint32_t track_of_lane(uint32_t lane) const { return topology_.device_count() + 1 + lane; }

  // As text at once: a tree of all events takes several times the memory.
  void add(const ordered_json& event) {
    if (text_.back() != '[') text_ += ',';
    text_ += json_text(event);
  }

  void add_metadata(const char* what, uint32_t track, const char* key, ordered_json value) {
    add({{"ph", "M"},
         {"pid", 1},
         {"tid", track},
         {"name", what},
         {"args", {{key, std::move(value)}}}});
  }

  void name_track(uint32_t track, const std::string& name) {
    add_metadata("thread_name", track, "name", name);
    add_metadata("thread_sort_index", track, "sort_index", track);
  }

  void name_tracks() {
    add_metadata("process_name", 0, "name", graph_.name() + " on " + topology_.name());
    for (uint32_t d = 0; d < topology_.device_count(); ++d) {
      name_track(track_of_device(d), topology_.device(d).name);
    }
    for (uint32_t i = 0; i < lanes_.names.size(); ++i) {
      name_track(track_of_lane(i), lanes_.names[i]);
    }
  }

  // Numbers the arrows. A transfer has one from its producer and one to each consumer it serves.
  void connect() {
    for (uint32_t i = 0; i < timeline_.transfers.size(); ++i) {
      const TransferSlice& t = timeline_.transfers[i];
      const uint32_t producer = graph_.producer(t.output);
      outgoing_[producer].push_back(++arrows_);
      transfer_in_.push_back(arrows_);
      transfer_out_.emplace_back();
      for (const uint32_t consumer : graph_.consumers(t.output)) {
        const uint32_t device = assignment_[consumer];
        const bool served = t.destination == TransferSlice::kBroadcast
                                ? device != assignment_[producer]
                                : device == t.destination;
        if (!served) continue;
        transfer_out_.back().push_back(++arrows_);
        incoming_[consumer].push_back(arrows_);
      }
    }
  }

  std::vector<Slice> slices() const {
    std::vector<uint32_t> rank(assignment_.size());
    const auto order = graph_.topological_order();
    for (uint32_t i = 0; i < order.size(); ++i) rank[order[i]] = 2 * i;
    std::vector<Slice> slices;
    for (uint32_t v = 0; v < rank.size(); ++v) {
      slices.push_back(
          {to_ticks(timeline_.start_us[v]), to_ticks(timeline_.finish_us[v]), rank[v], false, v});
    }
    for (uint32_t i = 0; i < timeline_.transfers.size(); ++i) {
      const TransferSlice& t = timeline_.transfers[i];
      slices.push_back(
          {to_ticks(t.start_us), to_ticks(t.end_us), rank[graph_.producer(t.output)] + 1, true, i});
    }
    std::sort(slices.begin(), slices.end(), [](const Slice& a, const Slice& b) {
      return std::tie(a.begin, a.end, a.rank, a.index) < std::tie(b.begin, b.end, b.rank, b.index);
    });
    return slices;
  }

  // An arrow's end binds to the slice that is on top of its track when the reader meets it, so each
  // slice is followed at once by its arrows.
  void add_slices() {
    for (const Slice& s : slices()) {
      if (s.transfer) {
        add_transfer(s);
      } else {
        add_node(s);
      }
    }
  }

  void add_node(const Slice& s) {
    const NodeSpec& node = graph_.node(s.index);
    const uint32_t track = track_of_device(assignment_[s.index]);
    add_slice(s, track, node.name.empty() ? "#" + std::to_string(s.index) : node.name,
              node.op.empty() ? "node" : node.op, {{"node", s.index}, {"op", node.op}});
    for (const uint32_t arrow : incoming_[s.index]) add_arrow("f", s, track, arrow);
    for (const uint32_t arrow : outgoing_[s.index]) add_arrow("s", s, track, arrow);
  }

  void add_transfer(const Slice& s) {
    const TransferSlice& t = timeline_.transfers[s.index];
    const uint32_t producer = graph_.producer(t.output);
    const uint32_t track = track_of_lane(lanes_.of_transfer[s.index]);
    const std::string to = t.destination == TransferSlice::kBroadcast
                               ? "every consumer's device"
                               : topology_.device(t.destination).name;
    add_slice(
        s, track,
        graph_.node(producer).name + ":" + std::to_string(t.output - graph_.output_begin(producer)),
        "transfer",
        {{"bytes", graph_.output_bytes(t.output)}, {"to", to}, {"arrival_us", t.arrival_us}});
    add_arrow("f", s, track, transfer_in_[s.index]);
    for (const uint32_t arrow : transfer_out_[s.index]) add_arrow("s", s, track, arrow);
  }

  void add_slice(const Slice& s, uint32_t track, std::string name, const std::string& category,
                 ordered_json args) {
    // Readers that cut a product with 1000 instead of rounding it begin a slice up to 1 ns early;
    // ending it 1 tick early keeps it clear of the next one for them too.
    const int64_t duration = std::max<int64_t>(s.end - s.begin - 1, 0);
    add({{"ph", "X"},
         {"pid", 1},
         {"tid", track},
         {"ts", to_us(s.begin)},
         {"dur", to_us(duration)},
         {"name", std::move(name)},
         {"cat", category},
         {"args", std::move(args)}});
  }

  void add_arrow(const char* phase, const Slice& s, uint32_t track, uint32_t id) {
    ordered_json event{
        {"ph", phase},      {"pid", 1},          {"tid", track}, {"ts", to_us(s.begin)},
        {"name", "tensor"}, {"cat", "transfer"}, {"id", id}};
    if (*phase == 'f') event["bp"] = "e";  // ends at the slice around it, not at the next one
    add(event);
  }

  void add_counters() {
    const auto steps = memory_steps(problem_, assignment_, timeline_);
    for (uint32_t d = 0; d < steps.size(); ++d) {
      const std::string name = "memory " + topology_.device(d).name;
      for (const MemoryStep& step : steps[d]) {
        add({{"ph", "C"},
             {"pid", 1},
             {"tid", track_of_device(d)},
             {"ts", to_us(to_ticks(step.time_us))},
             {"name", name},
             {"args", {{"bytes", step.bytes}}}});
      }
    }
  }

  const Problem& problem_;
  const Graph& graph_;
  const Topology& topology_;
  std::span<const uint32_t> assignment_;
  const Timeline& timeline_;
  const double ticks_;  // in a microsecond
  const Lanes lanes_;
  std::string text_;
  uint32_t arrows_ = 0;
  std::vector<std::vector<uint32_t>> incoming_, outgoing_;  // node -> arrows
  std::vector<uint32_t> transfer_in_;                       // transfer -> arrow
  std::vector<std::vector<uint32_t>> transfer_out_;
};

}  // namespace

std::string chrome_trace(const Problem& problem, std::span<const uint32_t> assignment,
                         const Timeline& timeline) {
  return Writer(problem, assignment, timeline).run();
}

}  // namespace placeto
