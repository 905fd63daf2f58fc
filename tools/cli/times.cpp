#include "tools/cli/times.h"

#include "tools/cli/common.h"
#include "tools/cli/graph_input.h"
#include "tools/report/time_sources.h"

namespace placeto::cli {

void note_unlike_times(const std::string& graph_path, const Graph& graph,
                       const std::string& topology_path, const Topology& topology) {
  const std::string unlike = unlike_times(graph, topology);
  if (unlike.empty()) return;
  note(as_given(graph_path + " on " + topology_path +
                ": numbers of unlike sources are compared: run times: " + unlike));
}

}  // namespace placeto::cli
