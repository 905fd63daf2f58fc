// Which files a command reads and which it writes: none is both, and outputs appear all or not at
// all.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tools/cli/common.h"
#include "tools/io/write.h"

namespace placeto::cli {

// What the command line names to be read, before the command starts; its table of options says
// what that is (Request::inputs), so that no command can forget a file.
void expect_inputs(const std::vector<std::string>& paths);

// A file that is read and not named there: found beside another, or named in it. A Failure if it is
// an output.
void note_input(const std::string& path);
// An ONNX model, and the files that it has its weights in.
void note_model(const std::string& path);

// Fails when a file surely cannot be written there (no such directory, a directory, no
// permission), or two outputs share a path, or one is a file that is read: asked before the work
// starts, and answered also of inputs that are noted later. Empty paths are skipped. One output may
// be standard output, "-": what is printed for people then goes to standard error.
void check_outputs(const std::vector<std::string>& paths);
// The same of commands whose output may take the place of their input, which it says again.
void check_replacing_outputs(const std::vector<std::string>& paths);

// Text to a file that appears whole or not at all, once what is printed of it has arrived.
void write_text(const std::string& path, std::string text);
// The same of a graph, topology or placement, in the form that the path asks for.
template <class Spec>
void write_spec(const std::string& path, const Spec& spec) {
  Result<std::string> content = encoded(spec, encoding_for(path));
  if (!content.ok()) require(content.status().at(path), kInternalError);
  write_text(path, *std::move(content));
}

// The outputs of a command that has several. If one cannot be written, none is.
class OutputFiles {
 public:
  // Nothing, if the path is empty.
  void add(const std::string& path, std::string content);
  void write() const;

 private:
  std::vector<Output> files_;
};

}  // namespace placeto::cli
