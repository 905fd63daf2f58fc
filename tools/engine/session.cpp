#include "tools/engine/session.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <unordered_map>

#include "runtime/graph/text.h"
#include "tools/devices/providers.h"
#include "tools/engine/thread_arena.h"

namespace placeto {
namespace {

// A provider with options of its own, for one of its devices; by the functions that the engine has
// for these options.
template <class Options>
void append(Ort::SessionOptions& session, const std::string& ordinal,
            OrtStatus* (*create)(Options**),
            OrtStatus* (*update)(Options*, const char* const*, const char* const*, size_t),
            OrtStatus* (*take)(OrtSessionOptions*, const Options*), void (*release)(Options*)) {
  Options* options = nullptr;
  Ort::ThrowOnError(create(&options));
  const char* key = "device_id";
  const char* value = ordinal.c_str();
  OrtStatus* status = update(options, &key, &value, 1);
  if (status == nullptr) status = take(session, options);
  release(options);
  Ort::ThrowOnError(status);
}

bool is_in(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// "cpu, cuda": by our names where there are such.
std::string names_text(const std::vector<std::string>& listed) {
  std::string text;
  for (const std::string& name : listed) {
    text += (text.empty() ? "" : ", ") + provider_named(name);
  }
  return text;
}

Status append_provider(const std::string& given, const std::string& device,
                       Ort::SessionOptions& options) {
  const std::string provider = provider_named(given);
  if (provider == "cpu") return {};
  const Provider* known = find_provider(given);
  const bool can_append = known != nullptr && (known->generic != nullptr || provider == "cuda" ||
                                               provider == "tensorrt");
  const std::vector<std::string> available = engine_providers();
  if (!can_append || !is_in(available, known->listed)) {
    return Status::invalid("device " + in_quotes(device) + ": this ONNX Runtime has no provider " +
                           in_quotes(given) + ", it has " + names_text(available));
  }
  const std::string ordinal = ordinal_of(device);
  const OrtApi& api = Ort::GetApi();
  try {
    if (provider == "cuda") {
      append(options, ordinal, api.CreateCUDAProviderOptions, api.UpdateCUDAProviderOptions,
             api.SessionOptionsAppendExecutionProvider_CUDA_V2, api.ReleaseCUDAProviderOptions);
    } else if (provider == "tensorrt") {
      append(options, ordinal, api.CreateTensorRTProviderOptions, api.UpdateTensorRTProviderOptions,
             api.SessionOptionsAppendExecutionProvider_TensorRT_V2,
             api.ReleaseTensorRTProviderOptions);
    } else {
      const auto type = device_type(*known, device);
      if (!type.ok()) return type.status();
      std::unordered_map<std::string, std::string> told;
      if (!type->empty()) told["device_type"] = *type;
      options.AppendExecutionProvider(known->generic, told);
    }
  } catch (
      const Ort::Exception& error) {  // it was built with it, and lacks its libraries or driver
    return Status::invalid("device " + in_quotes(device) + ": provider " + in_quotes(given) +
                           " does not start here: " + engine_failure(error).message());
  }
  return {};
}

TensorInfo describe(std::string name, const Ort::TypeInfo& type) {
  TensorInfo info;
  info.name = std::move(name);
  if (type.GetONNXType() != ONNX_TYPE_TENSOR) return info;
  const auto tensor = type.GetTensorTypeAndShapeInfo();
  info.element = static_cast<Element>(tensor.GetElementType());
  info.shape = tensor.GetShape();
  std::vector<const char*> symbols(info.shape.size(), "");
  tensor.GetSymbolicDimensions(symbols.data(), symbols.size());
  for (const char* symbol : symbols) info.symbols.emplace_back(symbol == nullptr ? "" : symbol);
  return info;
}

// The library, loaded once and never closed: its threads outlive what can be seen of them.
struct Engine {
  const OrtApiBase* base = nullptr;
  Status status;
};

// ONNX Runtime 1.30 writes a log and a database for its telemetry as soon as it has an environment,
// and its own call to turn that off comes too late: only the variable prevents it. Other threads of
// the host may be reading variables, so one that is there is left alone.
void disable_telemetry() {
  constexpr const char* kVariable = "ORT_DISABLE_TELEMETRY";
  if (std::getenv(kVariable) == nullptr) setenv(kVariable, "1", 0);
}

#define PLACETO_TEXT_OF(x) #x
#define PLACETO_TEXT(x) PLACETO_TEXT_OF(x)
#define PLACETO_OF_DEBIAN "libonnxruntime.so.1." PLACETO_TEXT(ORT_API_VERSION)

Engine open_engine() {
  disable_telemetry();
  Engine engine;
  void* library = nullptr;
  for (const char* name :
       {PLACETO_ONNXRUNTIME, "libonnxruntime.so.1", PLACETO_OF_DEBIAN, "libonnxruntime.so"}) {
    if (library == nullptr) library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  }
  void* entry = library == nullptr ? nullptr : dlsym(library, "OrtGetApiBase");
  if (entry == nullptr) {
    engine.status = Status::invalid("ONNX Runtime cannot be loaded, neither " PLACETO_ONNXRUNTIME
                                    " nor libonnxruntime.so, .so.1 or " PLACETO_OF_DEBIAN
                                    " (Debian 13: libonnxruntime1.21; elsewhere "
                                    "tools/engine/fetch.sh)");
    return engine;
  }
  engine.base = reinterpret_cast<const OrtApiBase* (*)()>(entry)();
  const OrtApi* interface = engine.base->GetApi(ORT_API_VERSION);
  if (interface == nullptr) {
    engine.status = Status::invalid(std::string("ONNX Runtime ") + engine.base->GetVersionString() +
                                    " is older than the headers that this placeto was built with");
    return engine;
  }
  Ort::InitApi(interface);
  return engine;
}

const Engine& the_engine() {
  static const Engine engine = open_engine();
  return engine;
}

}  // namespace

Status engine_status() {
  return the_engine().status;
}

std::string engine_version() {
  const Engine& engine = the_engine();
  return engine.status.ok() ? std::string("onnxruntime ") + engine.base->GetVersionString() : "";
}

std::vector<std::string> engine_providers() {
  if (!engine_status().ok()) return {};
  return Ort::GetAvailableProviders();
}

namespace {

// The engine asks the arena of the thread that it computes on, not one with a lock for all.
struct SessionMemory : OrtAllocator {
  SessionMemory() : OrtAllocator{} {
    version = ORT_API_VERSION;
    Alloc = [](OrtAllocator*, size_t bytes) {
      return bytes == 0 ? nullptr : arena_allocate(bytes);
    };
    Reserve = Alloc;
    Free = [](OrtAllocator*, void* memory) { arena_release(memory); };
    Info = [](const OrtAllocator* self) -> const OrtMemoryInfo* {
      return static_cast<const SessionMemory*>(self)->info;
    };
  }
  Ort::MemoryInfo info = Ort::MemoryInfo::CreateCpu(OrtDeviceAllocator, OrtMemTypeDefault);
};

}  // namespace

// Never destroyed, as the library is never closed: what providers keep in it (WebGPU its device)
// would go when the program ends, after the driver that they got it from, and the program would
// crash.
Ort::Env& engine_environment() {
  static Ort::Env& environment = [&]() -> Ort::Env& {
    auto* memory = new SessionMemory;
    auto* made = new Ort::Env(ORT_LOGGING_LEVEL_FATAL, "placeto");
    Ort::ThrowOnError(Ort::GetApi().RegisterAllocator(*made, memory));
    return *made;
  }();
  return environment;
}

Status engine_failure(const Ort::Exception& error, std::string_view known) {
  std::string_view said = error.what();
  if (said.starts_with(known)) said.remove_prefix(known.size());
  return Status::bad_input("ONNX Runtime: " + std::string(said));
}

Result<Ort::SessionOptions> session_options(const SessionSettings& settings,
                                            const std::string& provider,
                                            const std::string& device) {
  if (Status s = engine_status(); !s.ok()) return s;
  try {
    engine_environment();  // providers log, and there is nothing to log to before
    Ort::SessionOptions options;
    options.SetIntraOpNumThreads(static_cast<int>(settings.threads));
    options.SetInterOpNumThreads(1);
    options.AddConfigEntry("session.use_env_allocators", "1");
    options.SetExecutionMode(ORT_SEQUENTIAL);
    options.SetGraphOptimizationLevel(settings.optimize ? ORT_ENABLE_ALL : ORT_DISABLE_ALL);
    // Axes with names: the engine then knows more shapes before the run, and so do we.
    for (const DimSetting& dim : settings.dims) {
      if (dim.name == "*" || dim.name.find('[') != std::string::npos) continue;
      Ort::ThrowOnError(Ort::GetApi().AddFreeDimensionOverrideByName(
          options, dim.name.c_str(), static_cast<int64_t>(dim.value)));
    }
    if (!settings.profile_prefix.empty()) options.EnableProfiling(settings.profile_prefix.c_str());
    if (Status s = append_provider(provider, device, options); !s.ok()) return s;
    return options;
  } catch (const Ort::Exception& error) {
    return engine_failure(error).at(device);
  }
}

Status check_provider(const std::string& provider, const std::string& device) {
  if (provider_named(provider) == "cpu") return {};
  return session_options({}, provider, device).status();
}

Result<Ort::Session> open_session(const std::string& file, const Ort::SessionOptions& options) {
  std::error_code unknown;
  // The engine would wait for ever for somebody to write into a pipe.
  if (std::filesystem::is_other(std::filesystem::status(file, unknown))) {
    return Status::bad_input("expected a regular file").at(file);
  }
  try {
    return Ort::Session(engine_environment(), file.c_str(), options);
  } catch (const Ort::Exception& error) {
    return engine_failure(error, "Load model from " + file + " failed:").at(file);
  }
}

std::vector<TensorInfo> inputs_of(const Ort::Session& session) {
  std::vector<TensorInfo> infos;
  Ort::AllocatorWithDefaultOptions allocator;
  for (size_t i = 0; i < session.GetInputCount(); ++i) {
    infos.push_back(
        describe(session.GetInputNameAllocated(i, allocator).get(), session.GetInputTypeInfo(i)));
  }
  return infos;
}

std::vector<TensorInfo> outputs_of(const Ort::Session& session) {
  std::vector<TensorInfo> infos;
  Ort::AllocatorWithDefaultOptions allocator;
  for (size_t i = 0; i < session.GetOutputCount(); ++i) {
    infos.push_back(
        describe(session.GetOutputNameAllocated(i, allocator).get(), session.GetOutputTypeInfo(i)));
  }
  return infos;
}

Status save_optimized(const std::string& model, const std::string& out, const std::string& weights,
                      bool for_processor, std::span<const DimSetting> dims) {
  SessionSettings settings;
  settings.dims.assign(dims.begin(), dims.end());
  auto options = session_options(settings, "cpu", "cpu");
  if (!options.ok()) return options.status();
  if (!for_processor) {
    options->SetGraphOptimizationLevel(ORT_ENABLE_BASIC);
    // A session of what is saved does it, and would (1.30) give names to what it makes that are
    // taken by what was made here.
    options->AddConfigEntry("optimization.disable_specified_optimizers", "MatMulAddFusion");
  }
  options->SetOptimizedModelFilePath(out.c_str());
  if (!weights.empty()) {  // else it keeps naming the files that they are in, beside itself
    const std::string key = "session.optimized_model_external_initializers_";
    options->AddConfigEntry((key + "file_name").c_str(), weights.c_str());
    options->AddConfigEntry((key + "min_size_in_bytes").c_str(), "1024");
  }
  const auto session = open_session(model, *options);
  return session.ok() ? Status() : session.status();
}

}  // namespace placeto
