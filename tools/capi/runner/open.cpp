// Options read and checked, and what they open.
#include <algorithm>
#include <string>

#include "runtime/base/message.h"
#include "runtime/graph/text.h"
#include "tools/capi/runner/handle.h"
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

Outcome check_range(const char* name, uint32_t value, uint32_t least, uint32_t most) {
  if (value >= least && value <= most) return {};
  return invalid(join({name, " is ", value, ", expected ", least, " to ", most}));
}

Outcome read_options(const placeto_runner_options* from, Wishes& to) {
  if (from == nullptr) return {};
  placeto_runner_options given = default_options();
  Outcome outcome = read_struct("placeto_runner_options", from, given);
  if (outcome.ok()) outcome = check_range("threads", given.threads, 0, kMostThreads);
  if (outcome.ok()) outcome = check_range("slots", given.slots, 1, kMostSlots);
  if (outcome.ok()) {
    outcome = read_texts("providers", given.providers, given.provider_count, to.providers);
  }
  std::vector<std::string> dims;
  if (outcome.ok()) outcome = read_texts("dims", given.dims, given.dim_count, dims);
  if (!outcome.ok()) return outcome;
  for (const std::string& text : dims) {
    Result<DimSetting> dim = parse_dim_setting(text);
    if (!dim.ok()) return dim.status();
    to.dims.push_back(*std::move(dim));
  }
  to.threads = given.threads;
  to.slots = given.slots;
  return {};
}

// It has no manifest: its inputs are not known before it is open.
bool is_whole(const Manifest& manifest) {
  return manifest.outputs.empty();
}

bool was_placed_with(const Manifest& manifest, const DimSetting& dim) {
  return std::any_of(manifest.dims.begin(), manifest.dims.end(), [&](const DimSetting& d) {
    return d.name == dim.name && d.value == dim.value;
  });
}

// Those that are given, and of those that the stages were placed with the rest.
Outcome merge_dims(const Manifest& manifest, std::vector<DimSetting>& dims) {
  for (const DimSetting& dim : dims) {
    if (is_whole(manifest) || was_placed_with(manifest, dim) || may_have_dim(manifest, dim.name)) {
      continue;
    }
    return invalid("dims: " + in_quotes(dim_text(dim)) +
                   ": the stages have no such free dimension");
  }
  dims = merged_dims(manifest.dims, dims, [&manifest](const std::string& place) {
    return name_of_axis(manifest, place);
  });
  return {};
}

bool is_meant(const std::string& device, const std::string& key) {
  return device == key || device.starts_with(key + ":");
}

Outcome read_providers(const std::vector<std::string>& devices,
                       const std::vector<std::string>& texts, std::vector<std::string>& to) {
  to.assign(devices.size(), "cpu");
  for (const std::string& text : texts) {
    const size_t equals = text.find('=');
    const bool complete = equals != std::string::npos && equals > 0 && equals + 1 < text.size();
    bool used = false;
    for (size_t d = 0; d < devices.size() && complete; ++d) {
      if (!is_meant(devices[d], text.substr(0, equals))) continue;
      to[d] = text.substr(equals + 1);
      used = true;
    }
    if (used) continue;
    return invalid("providers: " + in_quotes(text) +
                   ": expected DEVICE=NAME with one of the devices, " + devices.front() +
                   " being the first");
  }
  return {};
}

// What `placeto tune` wrote beside the stages, if it wrote them. Its providers go before those that
// are given, which count more.
Outcome read_tuned(const Manifest& manifest, const std::string& directory, placeto_runner& handle,
                   std::vector<std::string>& providers) {
  if (is_whole(manifest) || !is_tuned(directory)) return {};
  const Result<TunedChoice> choice = read_choice(directory);
  if (!choice.ok()) return choice.status();
  handle.threads = choice->threads;
  handle.replicas = std::max(1u, choice->replicas);
  std::vector<std::string> tuned;
  for (const std::string& text : choice->providers) {
    const std::string device = text.substr(0, text.rfind('='));
    const auto& devices = manifest.devices;
    const bool is_there = std::find(devices.begin(), devices.end(), device) != devices.end();
    if (is_there) tuned.push_back(text);
  }
  providers.insert(providers.begin(), tuned.begin(), tuned.end());
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

Outcome open_runner(const std::string& path, Wishes& wishes, placeto_runner** runner) {
  std::string directory;
  const Result<Manifest> manifest = manifest_of(path, directory);
  if (!manifest.ok()) return manifest.status();
  auto handle = std::make_unique<placeto_runner>(wishes.slots);
  if (Outcome o = read_tuned(*manifest, directory, *handle, wishes.providers); !o.ok()) {
    return o;
  }
  if (wishes.threads > 0) handle->threads = wishes.threads;
  if (Outcome o = merge_dims(*manifest, wishes.dims); !o.ok()) return o;
  SessionSettings settings;
  if (Outcome o = read_providers(manifest->devices, wishes.providers, settings.providers);
      !o.ok()) {
    return o;
  }
  settings.threads = handle->threads;
  settings.slots = wishes.slots;
  settings.dims = wishes.dims;
  Result<std::unique_ptr<Runner>> opened = Runner::open(*manifest, directory, settings);
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
  return guarded(error, [&]() -> Outcome {
    if (Outcome o = check_not_null({{path, "path"}, {runner, "runner"}}); !o.ok()) return o;
    Wishes wishes;
    if (Outcome o = read_options(options, wishes); !o.ok()) return o;
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
