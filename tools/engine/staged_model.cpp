#include "tools/engine/staged_model.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <map>
#include <mutex>
#include <set>

#include "runtime/graph/text.h"
#include "tools/devices/providers.h"
#include "tools/engine/session.h"

namespace placeto {
namespace {

struct Tensor {
  TensorInfo info;
  bool bound = false;  // memory is taken once; else the engine allocates it in each run
};

// Sessions of WebGPU in one process share a device and what they tell it, and (1.30) no two may do
// so at a time: the process would end.
std::mutex* turns_of(const std::string& provider) {
  static std::mutex webgpu;
  return provider == "webgpu" ? &webgpu : nullptr;
}

std::unique_lock<std::mutex> turn(std::mutex* turns) {
  return turns == nullptr ? std::unique_lock<std::mutex>() : std::unique_lock(*turns);
}

// One stage: its session, and which tensors of the model it reads and makes.
struct Stage {
  Ort::Session session{nullptr};
  bool copies_inputs = false;          // its provider may have memory of its own
  bool apart = false;                  // it computes beside the processor
  std::mutex* turns = nullptr;         // taken while it runs
  std::vector<uint32_t> reads, makes;  // indices of tensors

  // Whether an input stays bound from run to run. What goes to another memory, the engine copies
  // there when it is bound, and not when it runs.
  bool keeps_bound(const Tensor& input) const { return input.bound && !copies_inputs; }
};

struct Slot {
  std::vector<Ort::Value> values;        // per tensor
  std::vector<Buffer> memory;            // per tensor, of those that are bound
  std::vector<Ort::IoBinding> bindings;  // per stage
};

Ort::Value value_over(const TensorInfo& info, std::span<std::byte> bytes,
                      const Ort::MemoryInfo& host) {
  return Ort::Value::CreateTensor(host, bytes.data(), bytes.size(), info.shape.data(),
                                  info.shape.size(),
                                  static_cast<ONNXTensorElementDataType>(info.element));
}

bool holds_tensor(const Ort::Value& value) {
  return value && value.HasValue() && value.IsTensor();
}

bool is_static(const TensorInfo& info) {
  return element_bytes(info.element) > 0 &&
         std::all_of(info.shape.begin(), info.shape.end(), [](int64_t n) { return n >= 0; });
}

using Numbers = std::map<std::string, uint64_t>;  // of dimensions, by DimSetting::name

// The numbers that the caller gave, by axis of an input, by name, or for all.
Status set_axes(const Numbers& numbers, TensorInfo& input) {
  for (size_t axis = 0; axis < input.shape.size(); ++axis) {
    if (input.shape[axis] >= 0) continue;
    const std::string position = input.name + "[" + std::to_string(axis) + "]";
    const std::string names[] = {position, input.symbols[axis], "*"};
    for (const std::string& name : names) {
      if (name.empty() || input.shape[axis] >= 0) continue;
      const auto number = numbers.find(name);
      if (number != numbers.end()) input.shape[axis] = static_cast<int64_t>(number->second);
    }
    if (input.shape[axis] >= 0) continue;
    const std::string& symbol = input.symbols[axis];
    return Status::invalid("input " + in_quotes(input.name) +
                           " has an axis without a number: expected " + kDimWords + " " +
                           in_quotes((symbol.empty() ? position : symbol) + "=N"));
  }
  if (element_bytes(input.element) > 0) return {};
  return Status::invalid("input " + in_quotes(input.name) + " is " + element_name(input.element) +
                         ", expected a tensor of numbers");
}

}  // namespace

struct StagedModel::State {
  ~State();

  Manifest manifest;
  Ort::MemoryInfo host = Ort::MemoryInfo::CreateCpu(OrtArenaAllocator, OrtMemTypeDefault);
  std::vector<Stage> stages;
  std::vector<Tensor> tensors;
  std::map<std::string, uint32_t> index;  // of tensors, by name
  std::vector<TensorInfo> inputs, outputs;
  std::vector<uint32_t> input_tensor, output_tensor;
  std::vector<Slot> slots;

  uint32_t tensor(const std::string& name) {
    const auto [it, fresh] = index.emplace(name, static_cast<uint32_t>(tensors.size()));
    if (fresh) tensors.push_back({{name, Element::kUndefined, {}, {}}, false});
    return it->second;
  }

  Status open_sessions(const std::string& directory, const SessionSettings& settings);
  void describe_whole();
  Status connect_inputs(uint32_t stage);
  Status connect_outputs(uint32_t stage);
  Status connect_input(size_t i, const Numbers& numbers);
  Status connect(const SessionSettings& settings);
  void add_slots(uint32_t count);
  void bind(Slot& slot, uint32_t stage);
  Status run(Slot& slot, uint32_t stage);
  void take_memory(Slot& slot, uint32_t tensor);
  Status prepare();
  void forget_bindings(Slot& slot);
  std::mutex* turns() const;
};

// Of any of its stages: what frees memory of a device takes it, too.
std::mutex* StagedModel::State::turns() const {
  for (const Stage& stage : stages) {
    if (stage.turns != nullptr) return stage.turns;
  }
  return nullptr;
}

// Also of a model that could not be opened.
StagedModel::State::~State() {
  const auto closes = turn(turns());
  slots.clear();
  stages.clear();
}

Status StagedModel::State::open_sessions(const std::string& directory,
                                         const SessionSettings& settings) {
  for (size_t s = 0; s < manifest.stages.size(); ++s) {
    const ManifestStage& stage = manifest.stages[s];
    const std::string& device = manifest.devices[stage.device];
    SessionSettings own = settings;
    if (!own.profile_prefix.empty()) own.profile_prefix += "_stage_" + std::to_string(s);
    const std::string provider =
        provider_named(settings.providers.empty() ? "cpu" : settings.providers[stage.device]);
    std::mutex* turns = turns_of(provider);
    const auto opens = turn(turns);
    const auto options = session_options(own, provider, device);
    if (!options.ok()) return options.status();
    const std::string file = (std::filesystem::path(directory) / stage.file).string();
    auto session = open_session(file, *options);
    if (!session.ok()) return session.status();
    const bool apart = !runs_on_processor(provider, device);
    stages.push_back({std::move(*session), provider != "cpu", apart, turns, {}, {}});
  }
  return {};
}

// Inputs and outputs of a model that came without a manifest.
void StagedModel::State::describe_whole() {
  ManifestStage& only = manifest.stages[0];
  const bool is_described = !manifest.inputs.empty() || !manifest.outputs.empty() ||
                            !only.inputs.empty() || !only.outputs.empty();
  if (manifest.stages.size() != 1 || is_described) return;
  std::set<std::string> handed_through;  // inputs that are outputs: nobody makes them
  for (const TensorInfo& input : inputs_of(stages[0].session)) {
    only.inputs.push_back({input.name, kFromCaller});
    manifest.inputs.push_back({input.name, kFromCaller});
    handed_through.insert(input.name);
  }
  for (const TensorInfo& output : outputs_of(stages[0].session)) {
    const bool is_made = !handed_through.contains(output.name);
    if (is_made) only.outputs.push_back(output.name);
    manifest.outputs.push_back({output.name, is_made ? 0 : kFromCaller});
  }
}

// Workers wait as the manifest says: what a stage reads without being listed may not be there yet.
Status StagedModel::State::connect_inputs(uint32_t s) {
  std::set<std::string_view> listed;
  for (const ManifestTensor& input : manifest.stages[s].inputs) listed.insert(input.name);
  for (const TensorInfo& input : inputs_of(stages[s].session)) {
    if (!listed.contains(input.name)) {
      return Status::bad_input(manifest.stages[s].file + ": reads " + in_quotes(input.name) +
                               ", which the manifest does not list as an input of stage " +
                               std::to_string(s));
    }
    const uint32_t t = tensor(input.name);
    stages[s].reads.push_back(t);
    if (tensors[t].info.element == Element::kUndefined) tensors[t].info = input;
  }
  return {};
}

// Others read what the stage is listed to make; what it makes besides, nobody asks it for.
Status StagedModel::State::connect_outputs(uint32_t s) {
  std::map<std::string, TensorInfo> made;
  for (const TensorInfo& output : outputs_of(stages[s].session)) made.emplace(output.name, output);
  for (const std::string& output : manifest.stages[s].outputs) {
    const auto it = made.find(output);
    if (it == made.end()) {
      return Status::bad_input(manifest.stages[s].file + ": does not make " + in_quotes(output) +
                               ", which the manifest lists as an output of stage " +
                               std::to_string(s));
    }
    const uint32_t t = tensor(output);
    stages[s].makes.push_back(t);
    tensors[t].info = it->second;
  }
  return {};
}

// One that no stage reads has memory, too, for callers know the model's inputs and it may be handed
// through; but where the manifest does not tell how much, it is left out.
Status StagedModel::State::connect_input(size_t i, const Numbers& numbers) {
  const std::string& name = manifest.inputs[i].name;
  const bool is_read = index.contains(name);
  TensorInfo info;
  if (is_read) {
    info = tensors[index.at(name)].info;
  } else if (i < manifest.declared.size()) {
    info = manifest.declared[i];
  }
  if (Status s = set_axes(numbers, info); !s.ok()) return is_read ? s : Status();
  const uint32_t t = tensor(name);
  tensors[t] = {info, true};
  inputs.push_back(std::move(info));
  input_tensor.push_back(t);
  return {};
}

// Tensors by number, with what their makers declare; inputs with what their readers do.
Status StagedModel::State::connect(const SessionSettings& settings) {
  for (const uint32_t s : manifest.order) {  // readers come after makers
    if (Status status = connect_inputs(s); !status.ok()) return status;
    if (Status status = connect_outputs(s); !status.ok()) return status;
  }
  Numbers numbers;
  for (const DimSetting& dim : settings.dims) numbers[dim.name] = dim.value;
  for (size_t i = 0; i < manifest.inputs.size(); ++i) {
    if (Status s = connect_input(i, numbers); !s.ok()) return s;
  }
  for (const ManifestTensor& output : manifest.outputs) {
    const uint32_t t = tensor(output.name);
    outputs.push_back(tensors[t].info);
    output_tensor.push_back(t);
  }
  return {};
}

void StagedModel::State::take_memory(Slot& slot, uint32_t t) {
  const TensorInfo& info = tensors[t].info;
  slot.memory[t] = Buffer(shape_bytes(info.element, info.shape));
  slot.values[t] = value_over(info, slot.memory[t].bytes(), host);
}

void StagedModel::State::add_slots(uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    Slot slot;
    for (size_t t = 0; t < tensors.size(); ++t) slot.values.emplace_back(nullptr);
    slot.memory.resize(tensors.size());
    for (const uint32_t t : input_tensor) take_memory(slot, t);
    slots.push_back(std::move(slot));
  }
}

// What does not change from run to run.
void StagedModel::State::bind(Slot& slot, uint32_t s) {
  Ort::IoBinding& binding = slot.bindings[s];
  for (const uint32_t t : stages[s].reads) {
    if (!stages[s].keeps_bound(tensors[t])) continue;
    binding.BindInput(tensors[t].info.name.c_str(), slot.values[t]);
  }
  for (const uint32_t t : stages[s].makes) {
    if (tensors[t].bound) {
      binding.BindOutput(tensors[t].info.name.c_str(), slot.values[t]);
    } else {
      binding.BindOutput(tensors[t].info.name.c_str(), host);
    }
  }
}

Status StagedModel::State::run(Slot& slot, uint32_t s) {
  Stage& stage = stages[s];
  if (stage.makes.empty()) return {};  // it hands inputs through, and the engine wants an output
  Ort::IoBinding& binding = slot.bindings[s];
  const auto runs = turn(stage.turns);
  try {
    for (const uint32_t t : stage.reads) {
      if (stage.keeps_bound(tensors[t])) continue;
      if (!slot.values[t].HasValue()) {  // the engine would read from nowhere
        return Status::bad_input("reads " + in_quotes(tensors[t].info.name) +
                                 ", an optional without a value, which the engine cannot be given")
            .at(manifest.stages[s].file);
      }
      binding.BindInput(tensors[t].info.name.c_str(), slot.values[t]);
    }
    bool fresh = false;
    for (const uint32_t t : stage.makes) {
      if (tensors[t].bound) continue;
      // Else the engine would write into what it made last time, which may still be in use.
      binding.BindOutput(tensors[t].info.name.c_str(), host);
      fresh = true;
    }
    stage.session.Run(Ort::RunOptions{nullptr}, binding);
    if (!fresh) return {};
    std::vector<Ort::Value> made = binding.GetOutputValues();
    const std::vector<std::string> names = binding.GetOutputNames();
    for (size_t i = 0; i < made.size(); ++i) {
      const uint32_t t = index.at(names[i]);
      if (!tensors[t].bound) slot.values[t] = std::move(made[i]);
    }
    return {};
  } catch (const Ort::Exception& error) {
    return engine_failure(error).at(manifest.stages[s].file);
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    return Status::internal(error.what()).at(manifest.stages[s].file);
  }
}

void StagedModel::State::forget_bindings(Slot& slot) {
  const auto frees = turn(turns());
  slot.bindings.clear();
}

Status StagedModel::State::prepare() {
  Slot& first = slots[0];
  forget_bindings(first);  // of a run that failed
  for (Stage& stage : stages) {
    first.bindings.emplace_back(stage.session);
    for (const uint32_t t : stage.makes) tensors[t].bound = false;
  }
  for (uint32_t s = 0; s < stages.size(); ++s) bind(first, s);
  for (const uint32_t s : manifest.order) {
    if (Status status = run(first, s); !status.ok()) return status;
  }
  // Memory is taken once for what has the shape that was declared.
  for (const Stage& stage : stages) {
    for (const uint32_t t : stage.makes) {
      const Ort::Value& value = first.values[t];
      tensors[t].bound = is_static(tensors[t].info) && value.IsTensor() &&
                         value.GetTensorTypeAndShapeInfo().GetShape() == tensors[t].info.shape;
    }
  }
  for (Slot& slot : slots) {
    forget_bindings(slot);
    for (Stage& stage : stages) slot.bindings.emplace_back(stage.session);
    for (const Stage& stage : stages) {
      for (const uint32_t t : stage.makes) {
        if (!tensors[t].bound) continue;
        const Ort::Value made = std::move(slot.values[t]);
        take_memory(slot, t);
        const auto memory = slot.memory[t].bytes();
        if (&slot == &first) std::memcpy(memory.data(), made.GetTensorRawData(), memory.size());
      }
    }
    for (const uint32_t t : input_tensor) {
      const auto from = first.memory[t].bytes(), to = slot.memory[t].bytes();
      if (&slot != &first) std::memcpy(to.data(), from.data(), from.size());
    }
    for (uint32_t s = 0; s < stages.size(); ++s) bind(slot, s);
  }
  return {};
}

StagedModel::StagedModel(std::unique_ptr<State> state) : state_(std::move(state)) {}
StagedModel::~StagedModel() = default;

Result<std::unique_ptr<StagedModel>> StagedModel::open(const Manifest& manifest,
                                                       const std::string& directory,
                                                       const SessionSettings& settings) {
  if (Status s = engine_status(); !s.ok()) return s;
  auto state = std::make_unique<State>();
  state->manifest = manifest;
  try {
    if (Status s = state->open_sessions(directory, settings); !s.ok()) return s;
    state->describe_whole();
    if (Status s = state->connect(settings); !s.ok()) return s;
    state->add_slots(std::max(1u, settings.slots));
  } catch (const Ort::Exception& error) {
    return engine_failure(error).at(directory);
  }
  return std::unique_ptr<StagedModel>(new StagedModel(std::move(state)));
}

const Manifest& StagedModel::manifest() const {
  return state_->manifest;
}
const std::vector<TensorInfo>& StagedModel::inputs() const {
  return state_->inputs;
}
const std::vector<TensorInfo>& StagedModel::outputs() const {
  return state_->outputs;
}
std::span<std::byte> StagedModel::input(uint32_t slot, size_t i) {
  return state_->slots[slot].memory[state_->input_tensor[i]].bytes();
}

Status StagedModel::prepare() {
  try {
    return state_->prepare();
  } catch (const Ort::Exception& error) {
    return engine_failure(error);
  }
}

// On a worker's thread nobody else would catch it, and saying it needs no memory.
Status StagedModel::run_stage(uint32_t slot, uint32_t stage) {
  try {
    return state_->run(state_->slots[slot], stage);
  } catch (const std::bad_alloc&) {
    return {StatusCode::kOutOfMemory, "out of memory"};
  }
}

Result<TensorView> StagedModel::output(uint32_t slot, size_t i) const {
  const Ort::Value& value = state_->slots[slot].values[state_->output_tensor[i]];
  const std::string& name = state_->outputs[i].name;
  try {
    if (!holds_tensor(value)) {
      return Status::invalid("output " + in_quotes(name) + " is no tensor");
    }
    const auto info = value.GetTensorTypeAndShapeInfo();
    TensorView view{static_cast<Element>(info.GetElementType()), info.GetShape(), {}};
    if (element_bytes(view.element) == 0) {
      return Status::invalid("output " + in_quotes(name) + " is " + element_name(view.element));
    }
    view.bytes = {static_cast<const std::byte*>(value.GetTensorRawData()),
                  shape_bytes(view.element, view.shape)};
    return view;
  } catch (const Ort::Exception& error) {
    return engine_failure(error).at(name);
  }
}

std::vector<Element> StagedModel::elements() const {
  std::vector<Element> elements;
  for (const auto& stage : state_->stages) {
    for (const uint32_t t : stage.reads) elements.push_back(state_->tensors[t].info.element);
    for (const uint32_t t : stage.makes) elements.push_back(state_->tensors[t].info.element);
  }
  return elements;
}

uint64_t StagedModel::tensor_bytes(const std::string& name) const {
  const auto it = state_->index.find(name);
  if (it == state_->index.end()) return 0;
  const Ort::Value& value = state_->slots[0].values[it->second];
  if (!holds_tensor(value)) return 0;
  const auto info = value.GetTensorTypeAndShapeInfo();
  return info.GetElementCount() * element_bytes(static_cast<Element>(info.GetElementType()));
}

bool StagedModel::runs_apart(uint32_t stage) const {
  return state_->stages[stage].apart;
}

bool StagedModel::all_bound() const {
  for (const Stage& stage : state_->stages) {
    for (const uint32_t t : stage.makes) {
      if (!state_->tensors[t].bound) return false;
    }
  }
  return true;
}

Result<std::vector<std::string>> StagedModel::end_profiling() {
  std::vector<std::string> files;
  Ort::AllocatorWithDefaultOptions allocator;
  const auto ends = turn(state_->turns());
  try {
    for (Stage& stage : state_->stages) {
      files.emplace_back(stage.session.EndProfilingAllocated(allocator).get());
    }
  } catch (const Ort::Exception& error) {
    return engine_failure(error);
  }
  return files;
}

}  // namespace placeto
