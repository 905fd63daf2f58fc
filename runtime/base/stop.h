// Stop: why a placing has to end before it is done. A flag that another thread sets, a deadline, or
// whatever a callback asks.
//
// Nothing here interrupts: loops whose length depends on the input report the work they do, and
// about every millisecond of work the flag and the clock are looked at. What was being made when
// the answer was yes is incomplete. Whoever made it says so (an infinite makespan, the worst score,
// an empty assignment, a status), and its caller goes back to what was complete before.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace placeto {

// Belongs to one placing: not shareable between threads. The flag is.
class Stop {
 public:
  using Callback = bool (*)(void* context);
  // A node or an edge takes 10 to 200 ns, by how scattered what it touches is.
  static constexpr uint64_t kWorkPerLook = 4096;
  // A millisecond or two: enough to compile and evaluate a first placement of 1,000 nodes.
  static constexpr uint64_t kHeadStart = 100'000;

  Stop() = default;  // never
  // `cancel` may be null. The deadline is that many milliseconds from now; 0: none.
  explicit Stop(const std::atomic<bool>* cancel, double deadline_ms = 0) : cancel_(cancel) {
    set_deadline(deadline_ms);
  }
  // Asks `callback(context)`, at every look: after so much work each.
  Stop(Callback callback, void* context, uint64_t work_per_look = kWorkPerLook)
      : callback_(callback),
        context_(context),
        work_per_look_(work_per_look),
        look_after_(work_per_look) {}

  // Work up to that much passes before the first look: whoever asks for a small thing gets a first
  // answer even if the flag is already set.
  void head_start(uint64_t work = kHeadStart) { look_after_ = work; }
  // The same where it can be enough: a larger graph would only end later by it, and by several
  // milliseconds if it is not in the processor's cache.
  void head_start_for(uint64_t nodes_and_edges) {
    constexpr uint64_t kLeastWorkEach = 10;  // of compiling and evaluating: it is twice that
    if (nodes_and_edges <= kHeadStart / kLeastWorkEach) head_start();
  }

  // The same reasons, and that many milliseconds from now as one more; 0: none.
  Stop sooner(double milliseconds) const {
    Stop stop = *this;
    const Stop other(nullptr, milliseconds);
    if (other.deadline_ < stop.deadline_) stop.deadline_ = other.deadline_;
    return stop;
  }

  // Looks now. Once true, it stays true.
  bool requested() {
    unseen_ = 0;
    look_after_ = work_per_look_;
    if (stopped_) return true;
    stopped_ = (cancel_ != nullptr && cancel_->load(std::memory_order_relaxed)) ||
               (callback_ != nullptr && callback_(context_)) ||
               (deadline_ != kNoDeadline && Clock::now() >= deadline_);
    return stopped_;
  }
  // What the last look told.
  bool stopped() const { return stopped_; }

  // Reports work done; looks when enough has come together. The unit is a node or an edge gone
  // through; whatever takes less is a part of that:
  static constexpr uint64_t looked_up(uint64_t elements) { return elements / 4; }
  static constexpr uint64_t compared(uint64_t elements) { return elements / 8; }
  static constexpr uint64_t copied(uint64_t elements) { return elements / 16; }
  // Memory given back, if it is much: the system takes a page from the process at a time.
  static constexpr uint64_t given_back(uint64_t bytes) { return bytes / 2048; }
  bool spend(uint64_t work) {
    unseen_ += work;
    return unseen_ < look_after_ ? stopped_ : requested();
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr Clock::time_point kNoDeadline = Clock::time_point::max();

  void set_deadline(double milliseconds) {
    if (!(milliseconds > 0)) return;
    constexpr double kYear = 365.0 * 24 * 3600 * 1000;  // more would overflow the clock
    const std::chrono::duration<double, std::milli> span(milliseconds < kYear ? milliseconds
                                                                              : kYear);
    deadline_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(span);
  }

  const std::atomic<bool>* cancel_ = nullptr;
  Callback callback_ = nullptr;
  void* context_ = nullptr;
  Clock::time_point deadline_ = kNoDeadline;
  uint64_t work_per_look_ = kWorkPerLook, look_after_ = kWorkPerLook, unseen_ = 0;
  bool stopped_ = false;
};

// For those who may have been given none.
inline bool spend(Stop* stop, uint64_t work) {
  return stop != nullptr && stop->spend(work);
}
inline bool stopped(const Stop* stop) {
  return stop != nullptr && stop->stopped();
}

// assign() in pieces: memory that is new, or has not been touched for long, takes its time.
// Incomplete once stopped; whether it was.
template <class T>
bool assign(std::vector<T>& items, size_t count, const T& value, Stop* stop) {
  constexpr size_t kPiece = (size_t{1} << 19) / sizeof(T);
  items.reserve(count);
  items.assign(std::min(kPiece, count), value);
  for (size_t piece = items.size();; items.resize(items.size() + piece, value)) {
    if (spend(stop, Stop::copied(piece * sizeof(T) / sizeof(double)))) return true;
    piece = std::min(kPiece, count - items.size());
    if (piece == 0) return false;
  }
}

// Empties the vector and gives its memory back. A look comes after every large one, so that those
// of a whole graph, which end together, do not add up to a long stretch.
template <class T>
void give_back(std::vector<T>& items, Stop* stop) {
  const size_t bytes = items.size() * sizeof(T);
  std::vector<T>().swap(items);
  spend(stop, Stop::given_back(bytes));
}

// Visits the indices in [begin, end), mostly a few, and looks at the clock in between where they
// are very many. Once stopped it visits no more of them than a first piece.
template <class Visit>
[[gnu::always_inline]] inline void in_pieces(uint32_t begin, uint32_t end, Stop* stop,
                                             const Visit& visit) {
  constexpr uint32_t kPiece = Stop::kWorkPerLook;
  while (begin != end) {
    const uint32_t piece_end = begin + std::min(end - begin, kPiece);
    for (; begin != piece_end; ++begin) visit(begin);
    if (begin != end && spend(stop, kPiece)) return;
  }
}

// A span for a range-based for that looks at the clock in between where the span is very long, and
// ends early once told to stop, after a first piece at the least: what reads and what is read by
// one node may be a million others. Short spans cost what they cost without; whoever loops over
// many of them reports those itself.
template <class T>
class Watched {
 public:
  // `work` for each element; the least is 1.
  Watched(std::span<const T> items, Stop* stop, size_t work)
      : items_(items), stop_(stop), piece_(kPiece / work + 1) {}

  struct End {};
  class Iterator {
   public:
    [[gnu::always_inline]] explicit Iterator(const Watched& all)
        : all_(all),
          at_(all.items_.data()),
          piece_end_(at_ + std::min(all.items_.size(), all.piece_)) {}
    [[gnu::always_inline]] const T& operator*() const { return *at_; }
    [[gnu::always_inline]] void operator++() { ++at_; }
    [[gnu::always_inline]] bool operator!=(End) {
      if (at_ != piece_end_) return true;
      if (at_ == all_.items_.data() + all_.items_.size()) return false;
      piece_end_ += all_.next_piece(at_);
      return at_ != piece_end_;
    }

   private:
    const Watched& all_;
    const T *at_, *piece_end_;
  };
  [[gnu::always_inline]] Iterator begin() const { return Iterator(*this); }
  End end() const { return {}; }

 private:
  static constexpr size_t kPiece = Stop::kWorkPerLook;

  // Its elements; none once stopped. Seldom called, and out of the way of loops.
  [[gnu::noinline, gnu::cold]] size_t next_piece(const T* at) const {
    if (spend(stop_, kPiece)) return 0;
    return std::min(piece_, items_.size() - static_cast<size_t>(at - items_.data()));
  }

  std::span<const T> items_;
  Stop* stop_;
  size_t piece_;
};

template <class T>
[[gnu::always_inline]] inline Watched<T> watched(std::span<const T> items, Stop* stop,
                                                 size_t work = 1) {
  return {items, stop, work};
}
template <class T>
[[gnu::always_inline]] inline Watched<T> watched(const std::vector<T>& items, Stop* stop,
                                                 size_t work = 1) {
  return {items, stop, work};
}

}  // namespace placeto
