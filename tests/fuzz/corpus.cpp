// placeto_fuzz_corpus: the fuzz targets without a fuzzer, for every compiler.
//
//   placeto_fuzz_corpus [--corpus DIR] [--target NAME] [--mutate N] [--seed S]
//
// Runs every target, or one, over its corpus DIR/NAME. A file there whose name begins with
// "refused" must be refused and any other must be accepted, so a target that no longer reaches what
// it tests is noticed. With --mutate, runs N random mutations of the corpus on each target. An
// input that ends the program is left behind as found-NAME: it is a corpus file for NAME.
#include <algorithm>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "runtime/base/random.h"
#include "runtime/format/file.h"
#include "tests/fuzz/mutate.h"
#include "tests/fuzz/targets.h"

// Called before a sanitizer ends the program; absent without one.
extern "C" __attribute__((weak)) void __sanitizer_set_death_callback(void (*callback)());

namespace placeto::fuzz {
namespace {

using Bytes = std::vector<uint8_t>;

struct Seed {
  std::string name;
  Bytes bytes;
};

struct Arguments {
  std::string corpus = PLACETO_FUZZ_CORPUS;
  std::string target;  // empty: all
  uint64_t mutations = 0, seed = 1;
};

// What is running, for save_input.
struct Running {
  const Target* target = nullptr;
  const Bytes* input = nullptr;
};
Running running;

void save_input() {
  if (running.input == nullptr) return;
  char path[64];
  std::snprintf(path, sizeof path, "found-%s", running.target->name);
  std::FILE* file = std::fopen(path, "wb");
  if (file == nullptr) return;
  std::fwrite(running.input->data(), 1, running.input->size(), file);
  std::fclose(file);
  std::fprintf(stderr, "fuzz: the input is in %s\n", path);
}

void on_signal(int signal) {
  save_input();
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

void catch_crashes() {
  std::signal(SIGABRT, on_signal);  // check() ends so
  if (__sanitizer_set_death_callback != nullptr) {
    __sanitizer_set_death_callback(save_input);
    return;  // sanitizers see the other signals, and print more
  }
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL}) std::signal(signal, on_signal);
}

bool run(const Target& target, const Bytes& input) {
  running = {&target, &input};
  const bool accepted = target.run(input.data(), input.size()) == 1;
  running = {};
  return accepted;
}

// In the order of their names, so that a run can be repeated. Empty if there is none.
std::vector<Seed> read_corpus(const std::filesystem::path& folder) {
  std::vector<Seed> seeds;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    auto bytes = read_file(entry.path().string(), UINT32_MAX);
    if (bytes.ok()) seeds.push_back({entry.path().filename().string(), *std::move(bytes)});
  }
  std::sort(seeds.begin(), seeds.end(),
            [](const Seed& a, const Seed& b) { return a.name < b.name; });
  return seeds;
}

int run_corpus(const Target& target, const std::vector<Seed>& seeds) {
  int surprises = 0;
  for (const Seed& seed : seeds) {
    const bool expected = !seed.name.starts_with("refused");
    if (run(target, seed.bytes) == expected) continue;
    ++surprises;
    std::fprintf(stderr, "%s/%s: %s, expected the contrary\n", target.name, seed.name.c_str(),
                 expected ? "refused" : "accepted");
  }
  std::printf("%-15s %4zu inputs\n", target.name, seeds.size());
  return surprises;
}

void run_mutations(const Target& target, const std::vector<Seed>& seeds,
                   const Arguments& arguments) {
  Random random(arguments.seed);
  uint64_t accepted = 0;
  const auto count = static_cast<uint32_t>(seeds.size());
  for (uint64_t i = 0; i < arguments.mutations; ++i) {
    const Bytes& seed = seeds[random.below(count)].bytes;
    const Bytes& other = seeds[random.below(count)].bytes;
    accepted += run(target, mutate(seed, other, random));
  }
  std::printf("%-15s %8llu mutations, %llu of them accepted\n", target.name,
              static_cast<unsigned long long>(arguments.mutations),
              static_cast<unsigned long long>(accepted));
  std::fflush(stdout);
}

bool parse_number(const char* text, uint64_t& number) {
  const char* end = text + std::strlen(text);
  const auto [stop, error] = std::from_chars(text, end, number);
  return error == std::errc() && stop == end;
}

bool parse(int argc, char** argv, Arguments& arguments) {
  for (int i = 1; i < argc; i += 2) {
    const std::string_view option = argv[i];
    if (i + 1 == argc) return false;
    if (option == "--corpus") {
      arguments.corpus = argv[i + 1];
    } else if (option == "--target") {
      arguments.target = argv[i + 1];
    } else if (option == "--mutate") {
      if (!parse_number(argv[i + 1], arguments.mutations)) return false;
    } else if (option != "--seed" || !parse_number(argv[i + 1], arguments.seed)) {
      return false;
    }
  }
  return true;
}

int run_all(const Arguments& arguments) {
  int surprises = 0, ran = 0;
  for (const Target& target : kTargets) {
    if (!arguments.target.empty() && arguments.target != target.name) continue;
    ++ran;
    const auto seeds = read_corpus(std::filesystem::path(arguments.corpus) / target.name);
    if (seeds.empty()) {
      std::fprintf(stderr, "%s/%s holds no inputs\n", arguments.corpus.c_str(), target.name);
      return 1;
    }
    surprises += run_corpus(target, seeds);
    if (arguments.mutations > 0) run_mutations(target, seeds, arguments);
  }
  if (ran == 0) std::fprintf(stderr, "no target '%s'\n", arguments.target.c_str());
  return surprises == 0 && ran > 0 ? 0 : 1;
}

}  // namespace
}  // namespace placeto::fuzz

int main(int argc, char** argv) {
  placeto::fuzz::Arguments arguments;
  if (!placeto::fuzz::parse(argc, argv, arguments)) {
    std::fprintf(stderr, "usage: %s [--corpus DIR] [--target NAME] [--mutate N] [--seed S]\n",
                 argv[0]);
    return 2;
  }
  placeto::fuzz::catch_crashes();
  return placeto::fuzz::run_all(arguments);
}
