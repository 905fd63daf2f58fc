#include "trainer/train/run_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>

#include <fmt/format.h>

#include "trainer/base/files.h"
#include "trainer/data/inventory.h"

namespace placeto::train {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMagic = "placeto-train checkpoint 1";
constexpr size_t kCheckpointsKept = 2;
constexpr const char* kSettings = "settings.toml";
constexpr const char* kDirectory = "directory.txt";
constexpr const char* kData = "data.txt";
constexpr const char* kConfig = "config.toml";
constexpr const char* kBest = "best.plpo";
constexpr const auto& kMetrics = MetricsLog::kFiles;
constexpr const char* kFiles[] = {kSettings,   kDirectory,  kData, kMetrics[0],
                                  kMetrics[1], kMetrics[2], kBest};
constexpr const char* kFolders[] = {"checkpoints", "records"};

// The number in "000120.ckpt".
std::optional<uint32_t> number_of(const fs::path& path, const char* extension) {
  const std::string stem = path.stem().string();
  if (path.extension() != extension || stem.empty() ||
      stem.find_first_not_of("0123456789") != std::string::npos) {
    return std::nullopt;
  }
  return static_cast<uint32_t>(std::strtoul(stem.c_str(), nullptr, 10));
}

std::vector<uint32_t> numbers_in(const std::string& folder, const char* extension) {
  std::vector<uint32_t> numbers;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    if (const auto number = number_of(entry.path(), extension)) numbers.push_back(*number);
  }
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

// Files that a write has not given their names yet: "config.toml.tmp-12-34".
bool is_half_written(const fs::path& path) {
  return path.filename().string().find(".tmp-") != std::string::npos;
}

}  // namespace

bool RunFolder::has(std::string_view name) const {
  return is_there(file(name));
}

Status RunFolder::lock() {
  if (lock_ != nullptr) return {};
  const int folder = ::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return Status::io(path_ + ": cannot open: " + std::strerror(errno));
  std::shared_ptr<void> open = {&lock_, [folder](void*) { ::close(folder); }};
  if (::flock(folder, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    return Status::invalid(path_ + ": another process is training there");
  }
  lock_ = std::move(open);                  // a process that is killed closes it, too
  if (has(kConfig)) remove_half_written();  // where there is no run, it is not one's own
  return {};
}

Status RunFolder::check_files() const {
  std::vector<std::string> paths = {file(kConfig)};
  for (const char* name : kFiles) paths.push_back(file(name));
  std::error_code ignored;
  for (const char* name : kFolders) {
    const std::string folder = file(name);
    const fs::file_status found = fs::status(folder, ignored);
    if (fs::exists(found) && !fs::is_directory(found)) {
      return Status::bad_input(folder + ": is not a directory, expected one");
    }
  }
  for (const uint32_t n : checkpoints()) paths.push_back(checkpoint_path(n));
  for (const uint32_t n : numbers_in(file("records"), ".bin")) paths.push_back(records_path(n));
  for (const std::string& path : paths) {
    const fs::file_status found = fs::status(path, ignored);
    if (fs::exists(found) && !fs::is_regular_file(found)) {
      return Status::bad_input(path + ": is not a regular file, expected one");
    }
  }
  return {};
}

void RunFolder::remove_half_written() const {
  std::error_code ignored;
  std::vector<fs::path> left;
  const auto look_into = [&](const std::string& folder, const auto& is_of_run) {
    for (const auto& entry : fs::directory_iterator(folder, ignored)) {
      if (is_half_written(entry.path()) && is_of_run(entry.path().filename().string())) {
        left.push_back(entry.path());
      }
    }
  };
  look_into(path_, [](const std::string& name) {
    const auto begins = [&](const char* file) { return name.starts_with(file); };
    return begins(kConfig) || std::any_of(std::begin(kFiles), std::end(kFiles), begins);
  });
  for (const char* folder : kFolders) {
    look_into(file(folder), [](const std::string&) { return true; });
  }
  for (const fs::path& path : left) fs::remove(path, ignored);
}

Status RunFolder::make(const char* name, std::string_view content) {
  const bool is_new = !has(name);
  Status s = write_whole(file(name), content);
  if (s.ok() && is_new) made_.push_back(file(name));
  return s;
}

Status RunFolder::create(std::string_view config_text) {
  std::error_code error;
  for (fs::path path = path_; !path.empty() && !fs::exists(path, error);
       path = path.parent_path()) {
    made_.insert(made_.begin(), path.string());
  }
  fs::create_directories(path_, error);
  if (error) return Status::io(path_ + ": cannot create: " + error.message());
  if (Status s = lock(); !s.ok()) return s;  // of several that create it, one does
  if (has(kConfig)) {
    return Status::invalid(path_ +
                           " holds a run already: continue it with --resume, or choose "
                           "another folder");
  }
  for (const char* name : kFiles) {
    if (!has(name)) continue;
    return Status::invalid(file(name) +
                           ": is there already, and a run would write it, expected another folder");
  }
  for (const char* folder : kFolders) {
    const std::string path = file(folder);
    if (fs::create_directory(path, error)) made_.push_back(path);
    if (error) return Status::io(path + ": cannot create: " + error.message());
    if (fs::is_empty(path, error)) continue;
    return Status::invalid(path +
                           ": is not empty, and a run would write there, expected another "
                           "folder");
  }
  // Who is killed between the two leaves a run that can be continued.
  if (Status s = make(kConfig, config_text); !s.ok()) return s;
  return make(kDirectory, fs::current_path(error).string());
}

void RunFolder::enter_directory() const {
  const Result<std::string> directory = read_text(file(kDirectory));
  std::error_code ignored;
  if (directory.ok() && !directory->empty()) fs::current_path(*directory, ignored);
}

void RunFolder::abandon() {
  std::error_code ignored;
  for (const char* folder : kFolders) {
    if (has(folder) && !fs::is_empty(file(folder), ignored)) return;
  }
  const auto is_there = [this](const char* name) { return has(name); };
  if (has(kBest) || std::any_of(std::begin(kMetrics), std::end(kMetrics), is_there)) return;
  // Folders into which somebody has put something are not empty, and stay.
  for (; !made_.empty(); made_.pop_back()) fs::remove(made_.back(), ignored);
}

std::string RunFolder::checkpoint_path(uint32_t iteration) const {
  return file(fmt::format("checkpoints/{:06}.ckpt", iteration));
}

std::string RunFolder::records_path(uint32_t iteration) const {
  return file(fmt::format("records/{:06}.bin", iteration));
}

std::vector<uint32_t> RunFolder::checkpoints() const {
  return numbers_in(file("checkpoints"), ".ckpt");
}

Status RunFolder::save(const Checkpoint& c, uint32_t window) {
  std::string content =
      fmt::format("{} {} {:a} {:a} {}", kMagic, c.iteration, c.best, c.seconds, c.examples);
  for (const double value : c.checked) content += fmt::format(" {:a}", value);
  content += "\n" + c.learner;
  if (Status s = write_sealed(checkpoint_path(c.iteration), content); !s.ok()) return s;
  std::vector<uint32_t> kept = checkpoints();
  std::error_code ignored;
  for (; kept.back() > c.iteration; kept.pop_back())
    fs::remove(checkpoint_path(kept.back()), ignored);
  while (kept.size() > kCheckpointsKept) {
    fs::remove(checkpoint_path(kept.front()), ignored);
    kept.erase(kept.begin());
  }
  for (const uint32_t iteration : numbers_in(file("records"), ".bin")) {
    if (iteration + window <= kept.front()) fs::remove(records_path(iteration), ignored);
  }
  return {};
}

Result<std::vector<uint32_t>> RunFolder::beginnings(std::string* note) const {
  const std::vector<uint32_t> all = checkpoints();
  std::vector<uint32_t> whole;
  for (const uint32_t iteration : all) {
    const Result<std::string> content = read_sealed(checkpoint_path(iteration));
    if (content.ok())
      whole.push_back(iteration);
    else
      *note += content.status().message() + "\n";
  }
  if (whole.empty() && !all.empty()) {
    return Status::bad_input(*note + path_ + ": no whole checkpoint in checkpoints/");
  }
  if (all.size() < kCheckpointsKept) whole.insert(whole.begin(), 0);
  return whole;
}

Result<Checkpoint> RunFolder::load_latest() const {
  std::string note;
  const Result<std::vector<uint32_t>> all = beginnings(&note);
  if (!all.ok()) return all.status();
  if (all->back() == 0) return Status::bad_input(path_ + ": no checkpoint in checkpoints/");
  return load(all->back());
}

Result<Checkpoint> RunFolder::load(uint32_t iteration) const {
  const std::string path = checkpoint_path(iteration);
  Result<std::string> content = read_sealed(path);
  if (!content.ok()) return content.status();
  const size_t line = content->find('\n');
  if (line == std::string::npos || !content->starts_with(kMagic)) {
    return Status::bad_input(path + ": no checkpoint of this version of placeto-train");
  }
  Checkpoint c;
  const std::string numbers = content->substr(kMagic.size(), line - kMagic.size());
  const char* next = numbers.c_str();
  char* end = nullptr;
  c.iteration = static_cast<uint32_t>(std::strtoul(next, &end, 10));
  c.best = std::strtod(end, &end);
  c.seconds = std::strtod(end, &end);
  c.examples = std::strtoull(end, &end, 10);
  for (next = end; *next == ' '; next = end) {
    const double value = std::strtod(next, &end);
    if (end == next) return Status::bad_input(path + ": its first line ends in no numbers");
    c.checked.push_back(value);
  }
  c.learner = content->substr(line + 1);
  return c;
}

Status RunFolder::keep_settings(const Config& config) {
  // Runs of versions that did not keep it begin to, as they are now.
  if (!has_content(file(kSettings))) return make(kSettings, config_text(config));
  return check_settings(config);
}

Status RunFolder::check_settings(const Config& config) const {
  if (!has_content(file(kSettings))) return {};
  const Result<Config> began = load_config(file(kSettings), nullptr, Unread::kLeft);
  if (!began.ok()) return began.status();
  const std::string changed = changed_setting(*began, config);
  if (changed.empty()) return {};
  return Status::bad_input(fmt::format(
      "{}: {}: expected the same, or begin another run with its best policy (learn.start)",
      file("config.toml"), changed));
}

Status RunFolder::keep_inventory(const std::string& lines) {
  if (!has(kData)) return lines.empty() ? Status() : make(kData, lines);
  const Result<std::string> kept = read_text(file(kData));
  if (!kept.ok()) return kept.status();
  if (same_inventory(*kept, lines)) return {};
  return Status::bad_input(fmt::format(
      "{}: the run began with other graphs or topologies: {}; expected the same, or begin another "
      "run with its best policy (learn.start)",
      file(kData), inventory_difference(*kept, lines)));
}

Status RunFolder::save_records(uint32_t iteration, std::string_view bytes) {
  return write_sealed(records_path(iteration), bytes);
}

Result<std::string> RunFolder::load_records(uint32_t iteration) const {
  return read_sealed(records_path(iteration));
}

}  // namespace placeto::train
