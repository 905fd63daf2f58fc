// Writing graphs, topologies, placements and policies, binary or JSON. Files appear whole or not at
// all: SIGINT, SIGTERM and SIGHUP wait until a file is there, or its temporary one gone (those that
// reach the thread that writes; no command has another then). A path of "-" is standard output;
// pipes and devices (/dev/null) are written to as they are.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "runtime/base/result.h"
#include "runtime/format/placement.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/topology.h"
#include "tools/io/read.h"

namespace placeto {

enum class Encoding { kBinary, kJson };

// JSON for "-" and a path that ends in ".json" (any case), binary otherwise.
Encoding encoding_for(const std::string& path);

// Whether the path leads to a pipe or a character device: what is written there cannot be taken
// back.
bool is_stream(const std::string& path);

// Text or bytes, to a file or to standard output, where nobody may be left to read them: no error.
Status write_output(const std::string& path, std::string_view bytes);

struct Output {
  std::string path, content;
};
// All of them or, if one cannot be written, no file: pipes and devices are written to first, then
// the files beside their places, then `before_they_appear` is called, which may throw, and last
// they take their places, which needs no more room.
Status write_outputs(std::span<const Output> outputs,
                     const std::function<void()>& before_they_appear = {});

// Fail with kIo when the file cannot be written, and with kInvalidArgument when the description
// has no such form: a number that is not finite or text that is not UTF-8 in JSON, more than 2 GiB
// in binary. Nothing is written then. The path says in which form: encoding_for().
Status write_graph(const std::string& path, const GraphSpec& spec);
Status write_topology(const std::string& path, const TopologySpec& spec);
Status write_placement(const std::string& path, const PlacementSpec& spec);

// What is written in that form.
Result<std::string> encoded(const GraphSpec& spec, Encoding encoding);
Result<std::string> encoded(const TopologySpec& spec, Encoding encoding);
Result<std::string> encoded(const PlacementSpec& spec, Encoding encoding);
Result<std::string> encoded(const AnySpec& spec, Encoding encoding);

// The JSON form, ending in a newline: one line per node, edge, device, link or tensor. Fields at
// their default are left out; numbers have the fewest digits that read back as the same number.
Result<std::string> to_json(const GraphSpec& spec);
Result<std::string> to_json(const TopologySpec& spec);
Result<std::string> to_json(const PlacementSpec& spec);
Result<std::string> to_json(const PolicyFile& file);

}  // namespace placeto
