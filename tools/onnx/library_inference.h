// Shape inference of one node by libonnx, in a child process: the library trusts its input and may
// divide by zero, read beyond the end of a list or fill memory when attributes or inputs are not
// what its schema says.
#pragma once

#include <map>
#include <span>
#include <string>

#include "tools/io/guarded_child.h"
#include "tools/onnx/value.h"

namespace placeto {

using Opsets = std::map<std::string, int>;  // version by domain, "" for ONNX's own

class LibraryInference {
 public:
  // Sets the types of outputs as far as they follow, and `problem` where nothing does.
  void infer(const onnx::NodeProto& node, std::span<const Value* const> inputs,
             const Opsets& opsets, std::span<Value> outputs, std::string& problem);

  // Not ok once there was no process to ask in: that is no fault of the model, and shapes that are
  // left out for it would change the graph with the state of the host.
  const Status& failure() const { return failure_; }

 private:
  static std::string serve(const std::string& request);
  const Result<std::string>& answer_to(std::string request);

  GuardedChild child_{serve};  // forked for the first node that comes here
  // By request, for the layers of a model ask the same again and again.
  std::map<std::string, Result<std::string>> answers_;
  size_t answer_bytes_ = 0;
  Status failure_;
};

}  // namespace placeto
