#include "tools/cli/files.h"

#include <map>
#include <set>
#include <utility>

#include "tools/cli/common.h"
#include "tools/export/onnx_export.h"
#include "tools/io/one_name.h"
#include "tools/io/output_paths.h"

namespace placeto::cli {
namespace {

// By one_name.
struct KnownFiles {
  std::set<std::string> inputs;
  std::map<std::string, std::string> outputs;  // to what the caller calls them
};
KnownFiles& known() {
  static KnownFiles files;
  return files;
}

void take_standard_output_for(const std::vector<std::string>& paths) {
  for (const std::string& path : paths) {
    if (path == "-") take_standard_output();
  }
}

}  // namespace

void expect_inputs(const std::vector<std::string>& paths) {
  bool reads_stdin = false;
  for (const std::string& path : paths) {
    if (path == "-" && reads_stdin) {
      throw Failure(kBadUsage, "standard input: given for two inputs");
    }
    reads_stdin = reads_stdin || path == "-";
    note_input(path);
  }
}

void note_input(const std::string& path) {
  if (path.empty() || path == "-") return;
  const std::string file = one_name(path);
  const auto output = known().outputs.find(file);
  if (output != known().outputs.end() && !keeps_nothing(path)) {
    require(overwrites_input(output->second));
  }
  known().inputs.insert(file);
}

void note_model(const std::string& path) {
  note_input(path);
  if (known().outputs.empty()) return;  // nothing to compare with
  for (const std::string& file : external_files(path)) note_input(file);
}

void check_outputs(const std::vector<std::string>& paths) {
  take_standard_output_for(paths);
  require(check_output_paths(paths, known().inputs), kInternalError);
  for (const std::string& path : paths) {
    if (!path.empty() && path != "-") known().outputs.emplace(one_name(path), path);
  }
}

void check_replacing_outputs(const std::vector<std::string>& paths) {
  take_standard_output_for(paths);
  require(check_output_paths(paths, {}), kInternalError);
}

void write_text(const std::string& path, std::string text) {
  OutputFiles files;
  files.add(path, std::move(text));
  files.write();
}

void OutputFiles::add(const std::string& path, std::string content) {
  if (!path.empty()) files_.push_back({path, std::move(content)});
}

void OutputFiles::write() const {
  require(write_outputs(files_, print_due), kInternalError);
}

}  // namespace placeto::cli
