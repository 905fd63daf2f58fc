// Options read and checked, and what they open.
#include <string>

#include "runtime/base/message.h"
#include "runtime/graph/text.h"
#include "tools/capi/runner/handle.h"
#include "tools/devices/device_settings.h"
#include "tools/engine/manifest_dims.h"
#include "tools/engine/tuned_choice.h"

using namespace placeto;        // NOLINT: this file is one edge of the library
using namespace placeto::capi;  // NOLINT

namespace {

constexpr uint32_t kMostThreads = 1024, kMostSlots = 1024;

// What a caller wants, before the model is known.
struct Wishes {
  uint32_t threads = 0, slots = 1;
  std::vector<DimSetting> dims;
  std::vector<std::string> providers;
};

placeto_runner_options default_options() {
  placeto_runner_options options = {};
  options.slots = 1;
  return options;
}

Status check_range(const char* name, uint32_t value, uint32_t least, uint32_t most) {
  if (value >= least && value <= most) return {};
  return invalid({name, " is ", value, ", expected ", least, " to ", most});
}

Status read_options(const placeto_runner_options* from, Wishes& to) {
  if (from == nullptr) return {};
  placeto_runner_options given = default_options();
  Status status = read_struct("placeto_runner_options", from, given);
  if (status.ok()) status = check_range("threads", given.threads, 0, kMostThreads);
  if (status.ok()) status = check_range("slots", given.slots, 1, kMostSlots);
  if (status.ok()) {
    status = read_texts("providers", given.providers, given.provider_count, to.providers);
  }
  std::vector<std::string> dims;
  if (status.ok()) status = read_texts("dims", given.dims, given.dim_count, dims);
  if (!status.ok()) return status;
  for (const std::string& text : dims) {
    Result<DimSetting> dim = parse_dim_setting(text);
    if (!dim.ok()) return dim.status();
    to.dims.push_back(*std::move(dim));
  }
  to.threads = given.threads;
  to.slots = given.slots;
  return {};
}

Status check_dims(const Manifest& manifest, const std::vector<DimSetting>& dims) {
  if (is_whole(manifest)) return {};  // its inputs are not known yet
  const ManifestDims free(manifest);
  for (const DimSetting& dim : dims) {
    if (free.takes(dim)) continue;
    return invalid(
        {"dims: ", in_quotes(dim_text(dim)), ": the stages have no such free dimension"});
  }
  return {};
}

std::vector<TensorTexts> texts_of(const std::vector<TensorInfo>& tensors) {
  std::vector<TensorTexts> texts;
  for (const TensorInfo& tensor : tensors) {
    texts.push_back({element_name(tensor.element), {}});
    for (const std::string& symbol : tensor.symbols) texts.back().symbols.push_back(symbol.c_str());
  }
  return texts;
}

// As wished, or else as tune.json beside the stages says; other devices are run by the processor.
Result<SessionSettings> settings_for(const Manifest& manifest, const std::string& directory,
                                     const Wishes& wishes, placeto_runner& handle) {
  auto given = device_settings({manifest.devices}, wishes.providers);
  if (!given.ok()) return given.status().at("providers");
  RunChoice choice{.threads = wishes.threads, .providers = *std::move(given)};
  if (Status s = complete_choice(manifest, directory, choice); !s.ok()) return s;
  handle.threads = choice.threads;
  handle.replicas = choice.replicas;
  for (std::string& provider : choice.providers) {
    if (provider.empty()) provider = "cpu";
  }
  return SessionSettings{.providers = std::move(choice.providers),
                         .threads = choice.threads,
                         .slots = wishes.slots,
                         .dims = ManifestDims(manifest).with(wishes.dims)};
}

Status open_runner(const std::string& path, const Wishes& wishes, placeto_runner** runner) {
  std::string directory;
  const Result<Manifest> manifest = manifest_of(path, directory);
  if (!manifest.ok()) return manifest.status();
  if (Status s = check_dims(*manifest, wishes.dims); !s.ok()) return s;
  auto handle = std::make_unique<placeto_runner>(wishes.slots);
  const Result<SessionSettings> settings = settings_for(*manifest, directory, wishes, *handle);
  if (!settings.ok()) return settings.status();
  Result<std::unique_ptr<Runner>> opened = Runner::open(*manifest, directory, *settings);
  if (!opened.ok()) return opened.status();
  handle->runner = *std::move(opened);
  handle->inputs = texts_of(handle->runner->model().inputs());
  handle->outputs = texts_of(handle->runner->model().outputs());
  *runner = handle.release();
  return {};
}

}  // namespace

uint32_t placeto_runner_version(void) noexcept {
  return PLACETO_VERSION;
}

const char* placeto_runner_engine(void) noexcept {
  try {
    static const std::string version = engine_version();
    return version.c_str();
  } catch (const std::exception&) {  // no memory for it now
    return "";
  }
}

placeto_status placeto_runner_default_options(placeto_runner_options* options,
                                              size_t struct_size) noexcept {
  return set_defaults(options, struct_size, default_options());
}

placeto_status placeto_runner_open(const char* path, const placeto_runner_options* options,
                                   placeto_runner** runner, placeto_error* error) noexcept {
  if (runner != nullptr) *runner = nullptr;
  return guarded(error, [&]() -> Status {
    if (Status s = check_not_null({{path, "path"}, {runner, "runner"}}); !s.ok()) return s;
    Wishes wishes;
    if (Status s = read_options(options, wishes); !s.ok()) return s;
    return open_runner(path, wishes, runner);
  });
}

void placeto_runner_free(placeto_runner* runner) noexcept {
  delete runner;
}

uint32_t placeto_runner_threads(const placeto_runner* runner) noexcept {
  return runner == nullptr ? 0 : runner->threads;
}
uint32_t placeto_runner_slots(const placeto_runner* runner) noexcept {
  return runner == nullptr ? 0 : static_cast<uint32_t>(runner->slots.size());
}
uint32_t placeto_runner_replicas(const placeto_runner* runner) noexcept {
  return runner == nullptr ? 0 : runner->replicas;
}
