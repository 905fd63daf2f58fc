// A server of one ONNX model on the devices of this host, from the file to running sessions.
//
//     serve_onnx MODEL.onnx TOPOLOGY CACHE [NAME=N ...]     NAME=N: extents of symbolic axes
//
// The first start finds the fastest way to run the model here, by measuring (tune.h), and keeps it
// in the folder CACHE under a name made of the model's and the machine's content; later starts with
// the same model on the same machine open what is there. Then four clients send requests at the
// same time, and what they waited is printed. Exit status 4: plans cannot be kept in CACHE.
#include <unistd.h>

#include <cerrno>
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "runtime/base/sha256.h"
#include "runtime/format/file.h"
#include "tools/costs/statistics.h"
#include "tools/engine/model_inputs.h"
#include "tools/engine/runner.h"
#include "tools/engine/tuned_choice.h"
#include "tools/export/onnx_export.h"
#include "tools/io/read.h"
#include "tools/io/write.h"
#include "tools/tune/tune.h"

namespace {

using placeto::Result;
using placeto::Status;

constexpr uint32_t kClients = 4, kRequestsOfClient = 25;

struct Service {
  std::string model, topology, cache;
  std::vector<placeto::DimSetting> dims;
};

std::string hexadecimal(const placeto::Sha256Digest& digest) {
  std::string text;
  char byte[3];
  for (size_t i = 0; i < 8; ++i) {
    std::snprintf(byte, sizeof byte, "%02x", digest[i]);
    text += byte;
  }
  return text;
}

// That plans can be kept there, which takes a folder: kInternal if not.
Status open_cache(const std::string& cache) {
  std::error_code error;
  std::filesystem::create_directories(cache, error);
  if (!error && !std::filesystem::is_directory(cache, error)) {
    error = std::make_error_code(std::errc::not_a_directory);
  }
  if (!error) return {};
  return Status::internal(cache + ": cannot keep plans there: " + error.message());
}

// A plan that is there needs only to be read.
Status check_writable(const std::string& cache) {
  if (access(cache.c_str(), W_OK | X_OK) == 0) return {};
  return Status::internal(cache + ": cannot keep plans there: " + std::strerror(errno));
}

// Weights outside of a model may be many gigabytes.
std::string when_written(const std::string& file) {
  std::error_code error;
  const auto bytes = std::filesystem::file_size(file, error);
  const auto time = std::filesystem::last_write_time(file, error).time_since_epoch().count();
  return error ? "" : std::to_string(bytes) + " " + std::to_string(time);
}

// Changes with the model, the machine, the axes and the engine.
Result<std::string> name_of_plan(const Service& service, const placeto::Topology& machine) {
  const auto model = placeto::read_file(service.model, uint64_t{4} << 30);
  if (!model.ok()) return model.status();
  const auto description = placeto::to_json(machine.spec());
  if (!description.ok()) return description.status();
  std::string rest = *description + placeto::engine_version();
  for (const auto& dim : service.dims) rest += placeto::dim_text(dim) + ",";
  for (const std::string& weights : placeto::external_files(service.model)) {
    rest += "," + when_written(weights);
  }
  placeto::Sha256 hash;
  hash.update(*model);
  hash.update({reinterpret_cast<const uint8_t*>(rest.data()), rest.size()});
  return hexadecimal(hash.finish());
}

Status make_plan(const Service& service, const placeto::Topology& machine,
                 const std::string& directory) {
  placeto::TuneOptions options;
  options.model = service.model;
  options.directory = directory;
  options.dims = service.dims;
  options.providers.assign(machine.device_count(), "cpu");
  options.runs = 7;
  options.rounds = 2;
  const auto result = placeto::tune(machine, options);
  if (!result.ok()) return result.status();
  std::printf("planned: %s\n", result->why.c_str());
  return {};
}

// Sessions that run, and which of their slots are free.
class Server {
 public:
  explicit Server(std::unique_ptr<placeto::Runner> runner) : runner_(std::move(runner)) {
    for (uint32_t slot = 0; slot < runner_->workers().slots(); ++slot) free_.push_back(slot);
  }

  Status serve() {
    const uint32_t slot = take();
    // Here a server writes its request into runner_->model().input(slot, 0).
    submit(slot);
    Status status = runner_->workers().wait(slot);
    if (status.ok()) status = runner_->model().output(slot, 0).status();
    give(slot);
    return status;
  }

 private:
  uint32_t take() {
    std::unique_lock lock(mutex_);
    available_.wait(lock, [&] { return !free_.empty(); });
    const uint32_t slot = free_.back();
    free_.pop_back();
    return slot;
  }
  void submit(uint32_t slot) {
    const std::lock_guard lock(mutex_);
    runner_->workers().submit(slot);
  }
  void give(uint32_t slot) {
    {
      const std::lock_guard lock(mutex_);
      free_.push_back(slot);
    }
    available_.notify_one();
  }

  std::unique_ptr<placeto::Runner> runner_;
  std::mutex mutex_;
  std::condition_variable available_;
  std::vector<uint32_t> free_;
};

Result<std::unique_ptr<Server>> start(const Service& service) {
  if (Status s = open_cache(service.cache); !s.ok()) return s;
  const auto machine = placeto::read_topology(service.topology);
  if (!machine.ok()) return machine.status();
  const auto name = name_of_plan(service, *machine);
  if (!name.ok()) return name.status();
  const std::string directory = service.cache + "/" + *name;
  std::error_code error;
  const bool cached = std::filesystem::exists(directory + "/manifest.json", error);
  if (!cached) {
    if (Status s = check_writable(service.cache); !s.ok()) return s;
    const Status made = make_plan(service, *machine, directory);
    // Unless another server has put its plan there.
    if (!made.ok() && !std::filesystem::exists(directory + "/manifest.json", error)) return made;
  }
  const double begin = placeto::now_us();
  const auto choice = placeto::read_choice(directory);
  if (!choice.ok()) return choice.status();
  placeto::SessionSettings settings;
  settings.threads = choice->threads;
  settings.slots = kClients;
  settings.dims = service.dims;
  auto runner = placeto::Runner::open(directory, settings);
  if (!runner.ok()) return runner.status();
  if (Status s = placeto::fill_model_inputs((*runner)->model(), {}); !s.ok()) return s;
  if (Status s = (*runner)->start(); !s.ok()) return s;
  const size_t stages = (*runner)->manifest().stages.size();
  std::printf("%s plan %s: %s, %zu %s, up after %.1f ms\n", cached ? "cached" : "new",
              name->c_str(), choice->name.c_str(), stages, stages == 1 ? "stage" : "stages",
              (placeto::now_us() - begin) / 1000);
  return std::make_unique<Server>(std::move(*runner));
}

Status serve_clients(Server& server) {
  std::vector<double> waited;
  std::mutex mutex;
  Status failure;
  std::vector<std::thread> clients;
  for (uint32_t c = 0; c < kClients; ++c) {
    clients.emplace_back([&] {
      for (uint32_t r = 0; r < kRequestsOfClient; ++r) {
        const double begin = placeto::now_us();
        Status status = server.serve();
        const std::lock_guard lock(mutex);
        waited.push_back(placeto::now_us() - begin);
        if (!status.ok()) failure = std::move(status);
      }
    });
  }
  for (std::thread& client : clients) client.join();
  std::printf("%zu requests of %u clients: median %.2f ms, 90%% within %.2f ms\n", waited.size(),
              kClients, placeto::median(waited) / 1000, placeto::percentile(waited, 0.9) / 1000);
  return failure;
}

int fail(const Status& status) {
  std::fprintf(stderr, "%s\n", status.message().c_str());
  return status.code() == placeto::StatusCode::kInternal ? 4 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fprintf(stderr, "usage: serve_onnx MODEL.onnx TOPOLOGY CACHE [NAME=N ...]\n");
    return 2;
  }
  Service service{argv[1], argv[2], argv[3], {}};
  for (int i = 4; i < argc; ++i) {
    const auto dim = placeto::parse_dim_setting(argv[i]);
    if (!dim.ok()) return fail(dim.status());
    service.dims.push_back(*dim);
  }
  auto server = start(service);
  if (!server.ok()) return fail(server.status());
  const Status served = serve_clients(**server);
  return served.ok() ? 0 : fail(served);
}
