// Choices drawn from fuzz bytes, for targets whose input is a sequence of calls. When the bytes run
// out every choice is 0.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>

namespace placeto::fuzz {

class Input {
 public:
  Input(const uint8_t* data, size_t size) : data_(data), left_(size) {}

  uint8_t byte() { return raw<uint8_t>(); }
  uint32_t word() { return raw<uint32_t>(); }

  // In [0, bound); bound in [1, 256].
  uint32_t below(uint32_t bound) { return byte() % bound; }
  bool one_in(uint32_t n) { return below(n) == n - 1; }

  // Mostly small and whole, so that there are ties; sometimes the bits of any double.
  double number() {
    const uint8_t kind = byte();
    if (kind < 200) return kind % 16;
    if (kind < 240) return static_cast<double>(raw<uint32_t>()) / 1024;
    return raw<double>();
  }

  // Mostly small; sometimes any 64 bits.
  uint64_t size() {
    const uint8_t kind = byte();
    if (kind < 220) return kind;
    return kind < 245 ? uint64_t{raw<uint32_t>()} : raw<uint64_t>();
  }

  // One of a few names, so that they meet; sometimes any bytes up to the first NUL.
  std::string text(const char* stem, uint32_t choices) {
    if (!one_in(32)) return stem + std::to_string(below(choices));
    std::string text;
    for (uint32_t i = below(12); i > 0; --i) {
      const uint8_t c = byte();
      if (c == 0) break;
      text += static_cast<char>(c);
    }
    return text;
  }

 private:
  template <class T>
  T raw() {
    T value{};
    const size_t n = sizeof value < left_ ? sizeof value : left_;
    if (n > 0) std::memcpy(&value, data_, n);
    data_ += n;
    left_ -= n;
    return value;
  }

  const uint8_t* data_;
  size_t left_;
};

}  // namespace placeto::fuzz
