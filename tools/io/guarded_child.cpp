#include "tools/io/guarded_child.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <exception>
#include <new>

namespace placeto {
namespace {

constexpr int kNoMemory = 99;  // exit status of a child that got none

// Before each message. A failed one carries what was thrown.
struct Header {
  uint64_t bytes = 0;
  uint64_t failed = 0;
};

using Clock = std::chrono::steady_clock;

// One end of the socket. The child's has all the time there is; the parent's has until `end`, for
// every byte of a message: a child that something has taken over may send a part of one.
struct End {
  enum class Moved : uint8_t { kAll, kClosed, kTooLong, kStopped };

  int socket;
  Clock::time_point end = Clock::time_point::max();
  Stop* stop = nullptr;

  // The child's blocks: it may not have as many files as poll looks at.
  int flags() const { return end == Clock::time_point::max() ? 0 : MSG_DONTWAIT; }

  // Until more can be moved, or the other end is closed. That may be before the first look at
  // `stop`: of what is quick there is an answer under any deadline.
  Moved wait(short event) const {
    constexpr int kBetweenLooksMs = 2;
    while (true) {
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now());
      if (left.count() <= 0) return Moved::kTooLong;
      const int ms = static_cast<int>(std::min<int64_t>(left.count(), 1'000'000));
      pollfd file{socket, event, 0};
      if (poll(&file, 1, stop != nullptr ? kBetweenLooksMs : ms) > 0) return Moved::kAll;
      if (stop != nullptr && stop->requested()) return Moved::kStopped;
    }
  }

  template <class Data, class Move>
  Moved move(Data* data, size_t size, short event, Move some) const {
    while (size > 0) {
      const ssize_t moved = some(data, size);
      if (moved > 0) {
        data += moved;
        size -= static_cast<size_t>(moved);
      } else if (moved < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
        if (const Moved waited = wait(event); waited != Moved::kAll) return waited;
      } else if (moved == 0 || errno != EINTR) {
        return Moved::kClosed;
      }
    }
    return Moved::kAll;
  }
  Moved send_all(const void* data, size_t size) const {
    return move(static_cast<const char*>(data), size, POLLOUT, [this](const char* at, size_t left) {
      return send(socket, at, left, MSG_NOSIGNAL | flags());
    });
  }
  Moved receive_all(void* data, size_t size) const {
    return move(static_cast<char*>(data), size, POLLIN,
                [this](char* at, size_t left) { return recv(socket, at, left, flags()); });
  }

  Moved send_message(const std::string& text, bool failed) const {
    const Header header{text.size(), failed};
    const Moved sent = send_all(&header, sizeof header);
    return sent == Moved::kAll ? send_all(text.data(), text.size()) : sent;
  }
  Moved receive_message(std::string& text, bool& failed) const {
    Header header;
    const Moved got = receive_all(&header, sizeof header);
    if (got != Moved::kAll) return got;
    if (header.bytes > GuardedChild::kMostBytes) return Moved::kClosed;
    failed = header.failed != 0;
    text.resize(header.bytes);
    return receive_all(text.data(), text.size());
  }
};

void limit(int resource, rlim_t most) {
  rlimit now;
  if (getrlimit(resource, &now) != 0) return;
  now.rlim_cur = std::min(most, now.rlim_max);
  setrlimit(resource, &now);
}

// Address space of this process; relative to it, a limit also holds where a sanitizer or another
// library has reserved terabytes.
uint64_t address_space() {
  unsigned long long pages = 0;
  if (FILE* file = std::fopen("/proc/self/statm", "r")) {
    if (std::fscanf(file, "%llu", &pages) != 1) pages = 0;
    std::fclose(file);
  }
  return pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

void limit_cpu(uint32_t seconds) {
  rusage used;
  if (getrusage(RUSAGE_SELF, &used) != 0) return;
  const auto whole = static_cast<rlim_t>(used.ru_utime.tv_sec + used.ru_stime.tv_sec);
  limit(RLIMIT_CPU, whole + seconds + 1);
}

// Sanitizers reserve addresses by the terabyte, and look through pipes whether memory is there.
#ifdef __SANITIZE_ADDRESS__
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

// Where the system can: elsewhere a child whose parent is killed goes on until it has answered.
void die_with([[maybe_unused]] pid_t parent) {
#ifdef __linux__
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(0);  // it has died already
#endif
}

// All of them: a host may have tens of thousands, and a connection that it closes stays open for as
// long as this process has it.
void close_from(unsigned first) {
#ifdef SYS_close_range
  if (syscall(SYS_close_range, first, ~0u, 0) == 0) return;
#endif
  constexpr rlim_t kMost = 1 << 20;  // there may be no limit
  rlimit most;
  if (getrlimit(RLIMIT_NOFILE, &most) != 0) return;
  for (rlim_t file = first; file < std::min(most.rlim_cur, kMost); ++file) {
    close(static_cast<int>(file));
  }
}

// Nothing of the parent's is left but its memory: no files, no handlers, no output.
void renounce(int socket, const ChildLimits& limits) {
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) signal(number, SIG_IGN);
  for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) signal(number, SIG_DFL);
  const uint64_t size = address_space();
  if (size != 0 && !kSanitized) limit(RLIMIT_AS, size + limits.memory_bytes);
  dup2(socket, 3);
  const int none = open("/dev/null", O_RDWR);
  for (int standard = 0; standard < 3 && none >= 0; ++standard) dup2(none, standard);
  close_from(4);
  if (!kSanitized) limit(RLIMIT_NOFILE, 0);
  limit(RLIMIT_FSIZE, 0);
  limit(RLIMIT_CORE, 0);
  std::set_new_handler([] { _exit(kNoMemory); });
}

[[noreturn]] void serve_until_closed(int socket, const GuardedChild::Serve& serve,
                                     const ChildLimits& limits) {
  renounce(socket, limits);
  const End end{3};
  std::string request, answer;
  bool failed = false;
  while (end.receive_message(request, failed) == End::Moved::kAll) {
    limit_cpu(limits.cpu_seconds);
    failed = false;
    try {
      answer = serve(request);
    } catch (const std::exception& error) {
      failed = true;
      answer = error.what();
    }
    if (answer.size() > GuardedChild::kMostBytes) break;
    if (end.send_message(answer, failed) != End::Moved::kAll) break;
  }
  _exit(0);
}

}  // namespace

GuardedChild::~GuardedChild() {
  if (child_ >= 0) end();
}

Status GuardedChild::start() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    return Status::internal(std::string("no socket to a child process: ") + std::strerror(errno));
  }
  const pid_t parent = getpid(), child = fork();
  if (child == 0) {
    die_with(parent);
    serve_until_closed(ends[1], serve_, limits_);
  }
  close(ends[1]);
  if (child < 0) {
    close(ends[0]);
    return Status::internal(std::string("no child process: ") + std::strerror(errno));
  }
  socket_ = ends[0];
  child_ = child;
  return {};
}

int GuardedChild::end() {
  ++deaths_;
  close(socket_);
  kill(child_, SIGKILL);  // if it only closed its end
  int status = 0;
  while (waitpid(child_, &status, 0) < 0 && errno == EINTR) {
  }
  child_ = socket_ = -1;
  return status;
}

Status GuardedChild::bury() {
  const int status = end();
  if (WIFEXITED(status) && WEXITSTATUS(status) == kNoMemory) {
    return Status::bad_input("ran out of memory");
  }
  if (!WIFSIGNALED(status)) return Status::bad_input("ended without an answer");
  if (WTERMSIG(status) == SIGXCPU) return Status::bad_input("took too long");
  return Status::bad_input("crashed (signal " + std::to_string(WTERMSIG(status)) + ")");
}

Result<std::string> GuardedChild::ask(const std::string& request, Stop* stop) {
  if (request.size() > kMostBytes) return Status::bad_input("is asked too much");
  if (deaths_ >= limits_.deaths) return Status::bad_input("failed too often");
  if (child_ < 0) {
    if (Status s = start(); !s.ok()) return s;
  }
  const End end_of_parent{socket_, Clock::now() + std::chrono::seconds(limits_.wall_seconds), stop};
  std::string answer;
  bool failed = false;
  End::Moved moved = end_of_parent.send_message(request, false);
  if (moved == End::Moved::kAll) moved = end_of_parent.receive_message(answer, failed);
  if (moved == End::Moved::kClosed) return bury();
  if (moved != End::Moved::kAll) end();
  if (moved == End::Moved::kTooLong) return Status::bad_input("took too long");
  if (moved == End::Moved::kStopped) return Status::stopped();
  if (failed) return Status::bad_input(std::move(answer));
  return answer;
}

}  // namespace placeto
