// The subcommands. Each function adds one to the application; it runs when the command line names
// it, and ends with a Failure if it cannot do what it was asked.
#pragma once

#include <CLI/CLI.hpp>

namespace placeto::cli {

void add_place(CLI::App& app);
void add_simulate(CLI::App& app);
void add_compare(CLI::App& app);
void add_inspect(CLI::App& app);
void add_convert(CLI::App& app);
void add_generate(CLI::App& app);
void add_import(CLI::App& app);
void add_calibrate(CLI::App& app);
void add_export(CLI::App& app);
void add_run(CLI::App& app);
// With libsodium only.
void add_keygen(CLI::App& app);
void add_sign(CLI::App& app);
void add_verify(CLI::App& app);
void add_report(CLI::App& app);

}  // namespace placeto::cli
