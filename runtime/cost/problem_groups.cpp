// Which nodes must share a device, and which devices kinds, pins and forbids leave them.
#include <algorithm>
#include <map>

#include "runtime/base/disjoint_sets.h"
#include "runtime/base/message.h"
#include "runtime/base/no_index.h"
#include "runtime/cost/problem.h"

namespace placeto {

Status Problem::form_groups(const Rules& rules, Stop* stop) {
  const uint32_t n = node_count();
  DisjointSets sets(n);
  std::map<std::string_view, uint32_t> first_with_key;
  for (uint32_t v = 0; v < n; ++v) {
    if (spend(stop, 1)) return Status::stopped();
    if (graph_->node(v).colocate.empty()) continue;
    const auto [it, fresh] = first_with_key.emplace(graph_->node(v).colocate, v);
    if (!fresh) sets.merge(it->second, v);
  }
  for (const std::vector<uint32_t>& together : rules.colocate) {
    for (uint32_t v : together) {
      if (v >= n) {
        return Status::invalid(join({"colocate: node ", v, ", expected a node index below ", n}));
      }
      sets.merge(together[0], v);
    }
    if (spend(stop, together.size())) return Status::stopped();
  }
  groups_.of.resize(n);
  std::vector<uint32_t> size;
  for (uint32_t v = 0; v < n; ++v) {  // a representative is the first of its set to be met
    const uint32_t lowest = sets.find(v);
    if (lowest == v) {
      groups_.of[v] = static_cast<uint32_t>(size.size());
      size.push_back(0);
    } else {
      groups_.of[v] = groups_.of[lowest];
    }
    ++size[groups_.of[v]];
    if (spend(stop, 1)) return Status::stopped();
  }
  groups_.begin.reserve(size.size() + 1);
  groups_.begin.assign(1, 0);
  for (uint32_t s : watched(size, stop)) groups_.begin.push_back(groups_.begin.back() + s);
  if (stopped(stop)) return Status::stopped();
  std::vector<uint32_t> end(groups_.begin.begin(), groups_.begin.end() - 1);
  groups_.members.resize(n);
  if (spend(stop, n)) return Status::stopped();  // memory touched for the first time is slow
  groups_.resident_bytes.assign(group_count(), 0);
  if (spend(stop, n)) return Status::stopped();
  groups_.class_allowed.reserve(size_t{group_count()} * classes_.count);
  for (uint32_t g = 0; g < group_count(); ++g) {
    groups_.class_allowed.resize(groups_.class_allowed.size() + classes_.count, 1);
    if (spend(stop, 1 + Stop::copied(classes_.count))) return Status::stopped();
  }
  for (uint32_t v = 0; v < n; ++v) {
    const uint32_t g = groups_.of[v];
    groups_.members[end[g]++] = v;
    groups_.resident_bytes[g] += graph_->node(v).resident_bytes;
    for (uint32_t c = 0; c < classes_.count; ++c) {
      if (run_row(v)[c] == kNever) groups_.class_allowed[size_t{g} * classes_.count + c] = 0;
    }
    if (spend(stop, classes_.count)) return Status::stopped();
  }
  return {};
}

Status Problem::restrict_groups(const Rules& rules, Stop* stop) {
  restrictions_.words = (device_count() + 63) / 64;
  const size_t most = std::min<size_t>(rules.pins.size() + rules.forbids.size(), group_count());
  restrictions_.left.reserve(most * restrictions_.words);  // grown, it would be copied
  for (const auto* list : {&rules.pins, &rules.forbids}) {
    const bool pin = list == &rules.pins;
    for (const Rules::NodeDevice& rule : *list) {
      if (rule.node >= node_count() || rule.device >= device_count()) {
        return Status::invalid(
            join({pin ? "pin" : "forbid", ": node ", rule.node, ", device ", rule.device,
                  ", expected below ", node_count(), " and ", device_count()}));
      }
      uint64_t* const left = devices_left(groups_.of[rule.node]);
      const uint32_t word = rule.device / 64;
      const uint64_t bit = uint64_t{1} << (rule.device % 64);
      for (uint32_t w = 0; pin && w < restrictions_.words; ++w) left[w] &= w == word ? bit : 0;
      if (!pin) left[word] &= ~bit;
      if (spend(stop, 1 + Stop::copied(restrictions_.words))) return Status::stopped();
    }
  }
  return {};
}

// The group's row, which begins with every device.
uint64_t* Problem::devices_left(uint32_t group) {
  if (restrictions_.row.empty()) restrictions_.row.assign(group_count(), kNoIndex);
  uint32_t& row = restrictions_.row[group];
  if (row == kNoIndex) {
    row = static_cast<uint32_t>(restrictions_.left.size() / restrictions_.words);
    restrictions_.left.resize(restrictions_.left.size() + restrictions_.words, ~uint64_t{0});
  }
  return &restrictions_.left[row * restrictions_.words];
}

bool Problem::rules_allow(uint32_t group, uint32_t device) const {
  const size_t row = restrictions_.row[group];
  if (row == kNoIndex) return true;
  return restrictions_.left[row * restrictions_.words + device / 64] >> (device % 64) & 1;
}

Status Problem::check_groups(Stop* stop) const {
  for (uint32_t g = 0; g < group_count(); ++g) {
    const uint32_t d = next_allowed(g, 0);
    if (spend(stop, 1 + Stop::looked_up(d))) return Status::stopped();
    if (d < device_count()) continue;
    std::string text =
        "no device satisfies the group of " + node_place(graph_->spec(), members(g)[0]);
    if (const size_t others = members(g).size() - 1; others > 0) {
      text += join({" and ", others, others == 1 ? " colocated node (" : " colocated nodes (",
                    node_place(graph_->spec(), members(g)[1]), others == 1 ? ")" : ", ...)"});
    }
    return bad_input({text,
                      "; expected a device that every node of it may run on, by cost_us, "
                      "allowed_kinds, pins and forbids together"});
  }
  return {};
}

}  // namespace placeto
