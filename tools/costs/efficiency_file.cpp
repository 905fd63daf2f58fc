#include "tools/costs/efficiency_file.h"

#include <nlohmann/json.hpp>

#include "runtime/format/file.h"
#include "runtime/graph/text.h"
#include "tools/io/bounded_json.h"
#include "tools/io/json_text.h"

namespace placeto {
namespace {

using Json = nlohmann::ordered_json;

Status missing(const std::string& field, const std::string& expected) {
  return Status::bad_input(field + ": expected " + expected);
}

Status read_number(const Json& object, const std::string& where, const char* key, bool positive,
                   double& value) {
  const auto it = object.find(key);
  if (it != object.end() && it->is_number()) {
    value = it->get<double>();
    // The bounds keep every estimate finite.
    if (value <= 1e24 && value >= (positive ? 1e-6 : 0)) return {};
  }
  return missing(where + key, positive ? "a number above 0" : "a number of at least 0");
}

Status read_row(const Json& row, const std::string& where, ClassEfficiency& efficiency) {
  if (!row.is_object()) return missing(where, "an object");
  const std::string inside = where + ".";
  double samples = 0;
  if (Status s = read_number(row, inside, "flops", true, efficiency.flops); !s.ok()) return s;
  if (Status s = read_number(row, inside, "bandwidth", true, efficiency.bandwidth); !s.ok()) {
    return s;
  }
  if (Status s = read_number(row, inside, "launch_us", false, efficiency.launch_us); !s.ok()) {
    return s;
  }
  if (Status s = read_number(row, inside, "samples", false, samples); !s.ok()) return s;
  if (samples > 1e9) return missing(inside + "samples", "a count");
  efficiency.samples = static_cast<uint32_t>(samples);
  return {};
}

Status check_fields(const Json& document) {
  for (const auto& [key, value] : document.items()) {
    if (key != "format_version" && key != "kind" && key != "device" && key != "peak_flops" &&
        key != "memory_bandwidth" && key != "classes") {
      return Status::bad_input("unknown field " + placeto::in_quotes(key));
    }
  }
  const auto version = document.find("format_version");
  if (version == document.end() || *version != 1) return missing("format_version", "1");
  const auto kind = document.find("kind");
  if (kind == document.end() || !kind->is_string() || kind->get<std::string>().empty()) {
    return missing("kind", "the kind of device");
  }
  const auto device = document.find("device");
  if (device != document.end() && !device->is_string()) return missing("device", "a string");
  return {};
}

}  // namespace

std::string efficiencies_to_json(const Efficiencies& efficiencies) {
  Json classes = Json::object();
  for (uint32_t c = 0; c < kOperatorClassCount; ++c) {
    const ClassEfficiency& row = efficiencies.classes[c];
    classes[name_of(static_cast<OperatorClass>(c))] = {{"flops", row.flops},
                                                       {"bandwidth", row.bandwidth},
                                                       {"launch_us", row.launch_us},
                                                       {"samples", row.samples}};
  }
  const Json document = {{"format_version", 1},
                         {"kind", efficiencies.kind},
                         {"device", efficiencies.device},
                         {"peak_flops", efficiencies.peak_flops},
                         {"memory_bandwidth", efficiencies.memory_bandwidth},
                         {"classes", std::move(classes)}};
  return json_text(document, 2) + "\n";
}

Result<Efficiencies> efficiencies_from_json(std::string_view text) {
  const Result<Json> parsed = parse_bounded<Json>(text, 10'000);
  if (!parsed.ok()) return parsed.status();
  const Json& document = *parsed;
  if (!document.is_object()) return Status::bad_input("is no JSON object, expected efficiencies");
  if (Status s = check_fields(document); !s.ok()) return s;
  Efficiencies out;
  out.kind = document["kind"].get<std::string>();
  if (document.contains("device")) out.device = document["device"].get<std::string>();
  if (Status s = read_number(document, "", "peak_flops", true, out.peak_flops); !s.ok()) return s;
  if (Status s = read_number(document, "", "memory_bandwidth", true, out.memory_bandwidth);
      !s.ok()) {
    return s;
  }
  const auto classes = document.find("classes");
  if (classes == document.end() || !classes->is_object()) return missing("classes", "an object");
  for (const auto& [key, row] : classes->items()) {
    if (!operator_class_of_name(key)) {
      return Status::bad_input("classes: unknown class " + placeto::in_quotes(key));
    }
  }
  for (uint32_t c = 0; c < kOperatorClassCount; ++c) {
    const std::string name = name_of(static_cast<OperatorClass>(c));
    const auto row = classes->find(name);
    if (row == classes->end()) return missing("classes." + name, "an object");
    if (Status s = read_row(*row, "classes." + name, out.classes[c]); !s.ok()) return s;
  }
  return out;
}

Result<Efficiencies> read_efficiencies(const std::string& path) {
  constexpr uint64_t kMaxBytes = 1 << 20;
  const auto bytes = read_file(path, kMaxBytes);
  if (!bytes.ok()) return bytes.status();
  return efficiencies_from_json(as_text(*bytes)).at(path);
}

}  // namespace placeto
