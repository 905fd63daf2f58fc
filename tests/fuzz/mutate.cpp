#include "tests/fuzz/mutate.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "runtime/format/file_kind.h"
#include "tests/fuzz/mutate_messages.h"
#include "tests/fuzz/mutate_tables.h"
#include "tools/io/json_forms.h"

namespace placeto::fuzz {
namespace {

using Bytes = std::vector<uint8_t>;

constexpr uint32_t kMostGrowth = 4'096;  // bytes that one change may add

uint32_t position(const Bytes& bytes, Random& random) {
  return random.below(static_cast<uint32_t>(bytes.size()));
}

Bytes part_of(const Bytes& bytes, Random& random) {
  if (bytes.empty()) return {};
  const uint32_t begin = position(bytes, random);
  const auto most = std::min<uint32_t>(static_cast<uint32_t>(bytes.size()) - begin, kMostGrowth);
  const auto from = bytes.begin() + begin;
  return {from, from + 1 + random.below(most)};
}

void flip_bit(Bytes& bytes, Random& random) {
  bytes[position(bytes, random)] ^= static_cast<uint8_t>(1u << random.below(8));
}

void change_byte(Bytes& bytes, Random& random) {
  constexpr uint8_t kTelling[] = {0, 1, 0x7f, 0x80, 0xff, '"', '{', '}', '[', ']', ',', '-', '9'};
  const bool telling = random.below(2) == 0;
  bytes[position(bytes, random)] =
      telling ? kTelling[random.below(std::size(kTelling))] : static_cast<uint8_t>(random.next());
}

// Lengths, offsets and counts: their neighbours, and what overflows when multiplied or added.
void change_word(Bytes& bytes, Random& random) {
  if (bytes.size() < 4) return;
  uint8_t* at = bytes.data() + position(bytes, random) / 4 * 4;
  if (at + 4 > bytes.data() + bytes.size()) return;
  uint32_t word = 0;
  std::memcpy(&word, at, sizeof word);
  const auto size = static_cast<uint32_t>(bytes.size());
  const uint32_t choices[] = {0,
                              1,
                              word + 1,
                              word - 1,
                              word + 4,
                              word - 4,
                              2 * word,
                              word / 2,
                              size,
                              size - 4,
                              0x3fffffff,
                              0x40000000,
                              0x7fffffff,
                              0x80000000,
                              0xffffffff,
                              static_cast<uint32_t>(random.next()),
                              word + random.below(64),
                              random.below(size)};
  word = choices[random.below(std::size(choices))];
  std::memcpy(at, &word, sizeof word);
}

void truncate(Bytes& bytes, Random& random) {
  bytes.resize(position(bytes, random));
}

void insert(Bytes& bytes, const Bytes& part, Random& random) {
  const auto at = static_cast<std::ptrdiff_t>(position(bytes, random));
  bytes.insert(bytes.begin() + at, part.begin(), part.end());
}

void overwrite(Bytes& bytes, const Bytes& part, Random& random) {
  const uint32_t at = position(bytes, random);
  const size_t n = std::min<size_t>(part.size(), bytes.size() - at);
  std::copy_n(part.begin(), n, bytes.begin() + at);
}

void remove(Bytes& bytes, Random& random) {
  const auto begin = static_cast<std::ptrdiff_t>(position(bytes, random));
  const auto most = static_cast<uint32_t>(bytes.size()) - static_cast<uint32_t>(begin);
  bytes.erase(bytes.begin() + begin, bytes.begin() + begin + random.below(most));
}

}  // namespace

bool mutate_structure(Bytes& bytes, size_t most_bytes, Random& random) {
  const flatbuffers::TypeTable* root = root_of(detect(bytes));
  return root != nullptr ? mutate_tables(bytes, root, random)
                         : mutate_messages(bytes, most_bytes, random);
}

Bytes mutate(const Bytes& seed, const Bytes& other, Random& random) {
  Bytes bytes = seed;
  if (random.below(2) == 0) {
    bool changed = false;
    for (uint32_t changes = 1 + random.below(3); changes > 0; --changes) {
      changed |= mutate_structure(bytes, seed.size() + kMostGrowth, random);
    }
    if (changed) return bytes;
  }
  for (uint32_t changes = 1 + random.below(4); changes > 0 && !bytes.empty(); --changes) {
    switch (random.below(16)) {  // small changes get further into a parser than large ones
      default:
        flip_bit(bytes, random);
        break;
      case 0:
      case 1:
      case 2:
      case 3:
        change_word(bytes, random);
        break;
      case 4:
      case 5:
      case 6:
        change_byte(bytes, random);
        break;
      case 7:
        truncate(bytes, random);
        break;
      case 8:
        insert(bytes, part_of(bytes, random), random);
        break;
      case 9:
        insert(bytes, part_of(other, random), random);
        break;
      case 10:
        overwrite(bytes, part_of(other, random), random);
        break;
      case 11:
        remove(bytes, random);
        break;
    }
  }
  return bytes;
}

}  // namespace placeto::fuzz
