#include "runtime/cost/number_range.h"

#include "runtime/base/message.h"
#include "runtime/graph/text.h"

namespace placeto {
namespace {

// Remembers the first number that is out of range.
class Finder {
 public:
  bool finds(const char* field, double value) {
    if (field_ != nullptr || in_number_range(value)) return field_ != nullptr;
    field_ = field;
    value_ = value;
    return true;
  }
  bool finds(const LinkParameters& link) {
    return finds(": bandwidth_bytes_per_us", link.bandwidth_bytes_per_us) ||
           finds(": latency_us", link.latency_us) || finds(": gap_us", link.gap_us);
  }
  bool finds(const DeviceSpec& device) {
    return finds(": slowdown", device.slowdown) || finds(": peak_flops", device.peak_flops) ||
           finds(": memory_bandwidth", device.memory_bandwidth) ||
           finds(": stage_us", device.stage_us) || finds(": cut_us", device.cut_us) ||
           finds(": cut_bytes_per_us", device.cut_bytes_per_us);
  }
  Status status(std::string_view place) const { return out_of_number_range(place, field_, value_); }

 private:
  const char* field_ = nullptr;
  double value_ = 0;
};

}  // namespace

Status out_of_number_range(std::string_view place, std::string_view field, double x) {
  return bad_input({place, field, " is ", number_text(x),
                    ", too small or too large to compute with, expected 0 or a number "
                    "from 1e-60 to 1e60"});
}

Status check_numbers(const Topology& topology, Stop* stop) {
  const TopologySpec& spec = topology.spec();
  Finder finder;
  if (finder.finds("op_gap_us", spec.op_gap_us)) return finder.status("");
  if (finder.finds(spec.default_link)) return finder.status("default_link");
  for (const DeviceSpec& device : spec.devices) {
    if (finder.finds(device)) return finder.status(join({"device ", in_quotes(device.name)}));
  }
  for (const LinkSpec& link : spec.links) {
    if (finder.finds(link.parameters)) {
      return finder.status(join({"link from ", in_quotes(link.from), " to ", in_quotes(link.to)}));
    }
    if (spend(stop, 1)) return Status::stopped();
  }
  return {};
}

}  // namespace placeto
