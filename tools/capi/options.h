// What a caller of the interface says about a model, read and checked.
#pragma once

#include <string>

#include "runtime/capi/support.h"
#include "tools/capi/include/placeto/placeto_onnx.h"
#include "tools/costs/sources.h"
#include "tools/onnx/import.h"

namespace placeto::capi {

struct Options {
  ImportOptions import;
  CostSources costs;
  const placeto_limits* limits = nullptr;
  placeto_onnx_note_function on_note = nullptr;
  void* note_context = nullptr;

  void note(const std::string& text) const {
    if (on_note != nullptr) on_note(note_context, text.c_str());
  }
};

// NULL means the defaults.
Status read_options(const placeto_onnx_options* from, Options& to);

}  // namespace placeto::capi
