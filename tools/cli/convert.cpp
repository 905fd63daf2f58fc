// placeto convert: the same file in its other form, without loss.
#include <memory>
#include <string>

#include "tools/cli/commands.h"
#include "tools/cli/common.h"
#include "tools/cli/files.h"
#include "tools/cli/foreign_model.h"
#include "tools/cli/graph_input.h"
#include "tools/cli/topologies.h"
#include "tools/io/read.h"
#include "tools/io/shipped.h"
#include "tools/io/write.h"

namespace placeto::cli {
namespace {

constexpr const char* kConvertExamples = R"(Examples:
  placeto convert graph.json graph.plg        JSON to binary
  placeto convert graph.plg graph.json        and back, without loss
  placeto convert policy.plpo policy.json     weights too, to the last bit
  placeto convert graph.plg out --to json     whatever the name

What IN is, is told by its content. OUT is JSON if its name ends in .json or it is -, binary
otherwise.)";

struct ConvertOptions {
  Common common;
  std::string in, out, to;
};

// What a file holds, or a built-in topology.
AnySpec read_input(const std::string& in) {
  if (shipped::is_topology(in)) return load_topology(in).spec();
  if (const std::string close = close_topology(in); !close.empty()) {
    throw Failure(kBadInputFile, in + ": no such file, and no built-in topology" + close);
  }
  refuse_foreign_model(in);
  if (is_onnx_input(in)) {
    throw Failure(kBadInputFile, in + ": is an ONNX model; 'placeto import' makes a graph of it");
  }
  return load_any(in);
}

void run_convert(const ConvertOptions& options) {
  check_replacing_outputs({options.out});  // without loss
  const AnySpec spec = read_input(options.in);
  const Encoding encoding = options.to.empty()     ? encoding_for(options.out)
                            : options.to == "json" ? Encoding::kJson
                                                   : Encoding::kBinary;
  const Result<std::string> content = encoded(spec, encoding);
  if (content.status().code() == StatusCode::kInvalidArgument) {  // what it holds has no such form
    throw Failure(kBadInputFile, options.in + ": " + content.status().message());
  }
  require(content.status(), kInternalError);
  const char* form = encoding == Encoding::kJson ? "json" : "binary";
  if (options.common.json) {
    print_json(Json{{"kind", name_of(kind_of(spec))}, {"encoding", form}, {"file", options.out}});
  }
  write_text(options.out, *content);
}

}  // namespace

void add_convert(Program& program) {
  Command& command = program.add(
      "convert", "Convert a graph, topology, placement or policy between JSON and binary");
  auto options = std::make_shared<ConvertOptions>();
  command.argument("IN", options->in, "File to read, or name of a built-in topology").required();
  command.argument("OUT", options->out, "File to write").required().writes();
  command.option("--to", "json|binary", options->to, "Form of OUT, whatever its name")
      .one_of({"json", "binary"});
  add_common(command, options->common);
  command.footer(kConvertExamples);
  command.action([options] { run_convert(*options); });
}

}  // namespace placeto::cli
