// The subcommands. Each function adds one to the program; it runs when the command line names
// it, and ends with a Failure if it cannot do what it was asked.
#pragma once

#include "tools/options/options.h"

namespace placeto::cli {

void add_place(Program& program);
void add_simulate(Program& program);
void add_compare(Program& program);
void add_inspect(Program& program);
void add_convert(Program& program);
void add_generate(Program& program);
void add_import(Program& program);
void add_calibrate(Program& program);
void add_export(Program& program);
void add_run(Program& program);
void add_verify(Program& program);
void add_detect(Program& program);
void add_measure(Program& program);
void add_tune(Program& program);
void add_report(Program& program);
// With libsodium only.
void add_keygen(Program& program);
void add_sign(Program& program);

}  // namespace placeto::cli
