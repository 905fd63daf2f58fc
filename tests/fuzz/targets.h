// The fuzz targets. Each takes any bytes, uses them as a program would use a file or an interface,
// and aborts when something that must hold of every input does not. Returns 1 when the input was
// accepted and 0 when it was refused.
#pragma once

#include <cstddef>
#include <cstdint>

namespace placeto::fuzz {

int fuzz_capi(const uint8_t* data, size_t size);
int fuzz_export(const uint8_t* data, size_t size);
int fuzz_graph(const uint8_t* data, size_t size);
int fuzz_graph_json(const uint8_t* data, size_t size);
int fuzz_onnx(const uint8_t* data, size_t size);
int fuzz_place(const uint8_t* data, size_t size);
int fuzz_placement(const uint8_t* data, size_t size);
int fuzz_placement_json(const uint8_t* data, size_t size);
int fuzz_policy(const uint8_t* data, size_t size);
int fuzz_policy_json(const uint8_t* data, size_t size);
int fuzz_profile(const uint8_t* data, size_t size);
int fuzz_stop(const uint8_t* data, size_t size);
int fuzz_structures(const uint8_t* data, size_t size);
int fuzz_topology(const uint8_t* data, size_t size);
int fuzz_topology_json(const uint8_t* data, size_t size);

struct Target {
  const char* name;  // of its folder in corpus/
  int (*run)(const uint8_t* data, size_t size);
};

inline constexpr Target kTargets[] = {
    {"capi", fuzz_capi},
#ifdef PLACETO_HAVE_ONNX
    {"export", fuzz_export},
#endif
    {"graph", fuzz_graph},
    {"graph_json", fuzz_graph_json},
#ifdef PLACETO_HAVE_ONNX
    {"onnx", fuzz_onnx},
#endif
    {"place", fuzz_place},
    {"placement", fuzz_placement},
    {"placement_json", fuzz_placement_json},
    {"policy", fuzz_policy},
    {"policy_json", fuzz_policy_json},
    {"profile", fuzz_profile},
    {"stop", fuzz_stop},
    {"structures", fuzz_structures},
    {"topology", fuzz_topology},
    {"topology_json", fuzz_topology_json},
};

}  // namespace placeto::fuzz
