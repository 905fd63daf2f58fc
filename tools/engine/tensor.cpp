#include "tools/engine/tensor.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <new>
#include <type_traits>

#include "runtime/base/message.h"
#include "runtime/format/file.h"
#include "runtime/graph/text.h"
#include "tools/io/element_names.h"

namespace placeto {
namespace {

constexpr uint64_t kMaxInputBytes = uint64_t{4} << 30;
constexpr std::align_val_t kAlignment{64};

float half_to_float(uint16_t half) {
  const int exponent = half >> 10 & 31;
  const float fraction = static_cast<float>(half & 1023) / 1024;
  float value = exponent == 0 ? std::ldexp(fraction, -14) : std::ldexp(1 + fraction, exponent - 15);
  if (exponent == 31) {
    value = fraction == 0 ? std::numeric_limits<float>::infinity()
                          : std::numeric_limits<float>::quiet_NaN();
  }
  return (half & 0x8000) != 0 ? -value : value;
}

// Cut off; 0 for what is too small to be normal in half precision, infinity for what is too large.
uint16_t float_to_half(float value) {
  const int sign = std::signbit(value) ? 0x8000 : 0;
  if (std::isnan(value)) return static_cast<uint16_t>(sign | 0x7e00);
  int exponent = 0;
  const float fraction = std::isinf(value) ? 0 : std::frexp(std::abs(value), &exponent);
  const int biased = exponent + 14;
  if (std::isinf(value) || biased >= 31) return static_cast<uint16_t>(sign | 0x7c00);
  if (fraction == 0 || biased <= 0) return static_cast<uint16_t>(sign);
  return static_cast<uint16_t>(sign | biased << 10 | static_cast<int>((fraction * 2 - 1) * 1024));
}

float bfloat_to_float(uint16_t bits) {
  const uint32_t wide = uint32_t{bits} << 16;
  float value = 0;
  std::memcpy(&value, &wide, sizeof value);
  return value;
}

uint16_t float_to_bfloat(float value) {
  uint32_t wide = 0;
  std::memcpy(&wide, &value, sizeof value);
  return static_cast<uint16_t>(wide >> 16);
}

template <class T>
T load(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

double number_at(Element element, const std::byte* at) {
  switch (element) {
    case Element::kFloat:
      return load<float>(at);
    case Element::kDouble:
      return load<double>(at);
    case Element::kFloat16:
      return half_to_float(load<uint16_t>(at));
    case Element::kBfloat16:
      return bfloat_to_float(load<uint16_t>(at));
    case Element::kInt8:
      return load<int8_t>(at);
    case Element::kUint8:
    case Element::kBool:
      return load<uint8_t>(at);
    case Element::kInt16:
      return load<int16_t>(at);
    case Element::kUint16:
      return load<uint16_t>(at);
    case Element::kInt32:
      return load<int32_t>(at);
    case Element::kUint32:
      return load<uint32_t>(at);
    case Element::kInt64:
      return static_cast<double>(load<int64_t>(at));
    case Element::kUint64:
      return static_cast<double>(load<uint64_t>(at));
    default:
      return 0;
  }
}

// 0 for what no whole number of the type comes near.
template <class T>
void store(std::byte* at, double value) {
  T number{};
  if constexpr (std::is_integral_v<T>) {
    using Numbers = std::numeric_limits<T>;
    const double behind = 2.0 * static_cast<double>(Numbers::max() / 2 + 1);
    if (value >= static_cast<double>(Numbers::min()) && value < behind) {
      number = static_cast<T>(value);
    }
  } else {
    number = static_cast<T>(value);
  }
  std::memcpy(at, &number, sizeof number);
}

void store_number(Element element, double value, std::byte* at) {
  switch (element) {
    case Element::kFloat:
      return store<float>(at, value);
    case Element::kDouble:
      return store<double>(at, value);
    case Element::kFloat16:
      return store<uint16_t>(at, float_to_half(static_cast<float>(value)));
    case Element::kBfloat16:
      return store<uint16_t>(at, float_to_bfloat(static_cast<float>(value)));
    case Element::kInt8:
      return store<int8_t>(at, value);
    case Element::kUint8:
      return store<uint8_t>(at, value);
    case Element::kBool:
      return store<uint8_t>(at, value != 0 ? 1 : 0);
    case Element::kInt16:
      return store<int16_t>(at, value);
    case Element::kUint16:
      return store<uint16_t>(at, value);
    case Element::kInt32:
      return store<int32_t>(at, value);
    case Element::kUint32:
      return store<uint32_t>(at, value);
    case Element::kInt64:
      return store<int64_t>(at, value);
    case Element::kUint64:
      return store<uint64_t>(at, value);
    default:
      return;
  }
}

bool is_float(Element element) {
  return element == Element::kFloat || element == Element::kDouble ||
         element == Element::kFloat16 || element == Element::kBfloat16;
}

// What NumPy writes before the numbers: magic, version, length, then a dictionary in text.
struct NpyHeader {
  std::string descr;
  std::string shape;  // "2,3"; "?" if there is none
  bool fortran = false;
  size_t size = 0;  // 0: no .npy file
};

// "2,3" of "'shape': (2, 3), }".
std::string npy_shape(std::string_view text) {
  constexpr std::string_view kKey = "'shape': (";
  const size_t begin = text.find(kKey);
  const size_t end = begin == text.npos ? text.npos : text.find(')', begin);
  if (end == text.npos) return "?";
  std::string shape(text.substr(begin + kKey.size(), end - begin - kKey.size()));
  std::erase(shape, ' ');
  if (shape.ends_with(',')) shape.pop_back();  // of one axis
  return shape;
}

std::string npy_shape(std::span<const int64_t> extents) {
  std::string shape;
  for (const int64_t extent : extents) shape += (shape.empty() ? "" : ",") + std::to_string(extent);
  return shape;
}

NpyHeader read_npy_header(std::string_view bytes) {
  NpyHeader header;
  if (!bytes.starts_with("\x93NUMPY") || bytes.size() < 12) return header;
  const bool small = bytes[6] == 1;
  const auto byte = [&](size_t i) { return size_t{static_cast<uint8_t>(bytes[i])}; };
  const size_t begin = small ? 10 : 12;
  const size_t length =
      small ? byte(8) | byte(9) << 8 : byte(8) | byte(9) << 8 | byte(10) << 16 | byte(11) << 24;
  const std::string_view text = bytes.substr(begin, length);
  const size_t key = text.find("'descr': '");
  if (key != std::string_view::npos) {
    const std::string_view rest = text.substr(key + 10);
    header.descr = rest.substr(0, rest.find('\''));
  }
  header.shape = npy_shape(text);
  header.fortran = text.find("'fortran_order': True") != std::string_view::npos;
  header.size = std::min(begin + length, bytes.size());
  return header;
}

std::string npy_descr(Element element) {
  switch (element) {
    case Element::kFloat:
      return "<f4";
    case Element::kDouble:
      return "<f8";
    case Element::kFloat16:
      return "<f2";
    case Element::kInt8:
      return "|i1";
    case Element::kUint8:
      return "|u1";
    case Element::kBool:
      return "|b1";
    case Element::kInt16:
      return "<i2";
    case Element::kUint16:
      return "<u2";
    case Element::kInt32:
      return "<i4";
    case Element::kUint32:
      return "<u4";
    case Element::kInt64:
      return "<i8";
    case Element::kUint64:
      return "<u8";
    default:
      return "?";
  }
}

}  // namespace

size_t element_bytes(Element element) {
  // The others are text, two numbers each, or floats of 8 bits and fewer, which nothing here reads.
  const bool is_number =
      element == Element::kBfloat16 || (element <= Element::kUint64 && element != Element::kString);
  return is_number ? element_bits(static_cast<int32_t>(element)) / 8 : 0;
}

std::string element_name(Element element) {
  if (element == Element::kUndefined) return "no tensor";
  const auto type = static_cast<int32_t>(element);
  const std::string_view name = numpy_name(type);
  return name.empty() ? "type " + std::to_string(type) : std::string(name);
}

uint64_t shape_bytes(Element element, std::span<const int64_t> shape) {
  uint64_t bytes = element_bytes(element);
  for (const int64_t extent : shape) {
    if (extent == 0) return 0;
  }
  for (const int64_t extent : shape) {
    if (__builtin_mul_overflow(bytes, static_cast<uint64_t>(extent), &bytes)) return UINT64_MAX;
  }
  return bytes;
}

// Rounded up to the alignment, what is nearly all of 64 bits would be nothing.
static size_t possible(size_t bytes) {
  if (bytes > PTRDIFF_MAX) throw std::bad_alloc();
  return std::max<size_t>(bytes, 1);
}

Buffer::Buffer(size_t bytes)
    : data_(static_cast<std::byte*>(::operator new(possible(bytes), kAlignment))), size_(bytes) {
  std::memset(data_.get(), 0, bytes);
}

void Buffer::Free::operator()(std::byte* data) const {
  ::operator delete(data, kAlignment);
}

void fill_inputs(Element element, uint64_t seed, std::span<std::byte> out) {
  const size_t width = element_bytes(element);
  if (width == 0) return;
  uint64_t state = seed;  // a linear congruential generator
  for (size_t at = 0; at + width <= out.size(); at += width) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const double number = static_cast<double>(state >> 40) / (1 << 24);
    store_number(element, is_float(element) ? number : 1, out.data() + at);
  }
}

Status fill_value(Element element, double value, std::span<std::byte> out) {
  const size_t width = element_bytes(element);
  if (width == 0) return Status::invalid(element_name(element) + " takes no number");
  for (size_t at = 0; at + width <= out.size(); at += width) {
    store_number(element, value, out.data() + at);
  }
  if (out.empty() || number_at(element, out.data()) == value || is_float(element)) return {};
  return Status::invalid(number_text(value) + " is no " + element_name(element));
}

Status read_tensor_file(const std::string& path, const TensorInfo& wanted,
                        std::span<std::byte> out) {
  const auto bytes = read_file(path, kMaxInputBytes);
  if (!bytes.ok()) return bytes.status();
  const std::string_view text = as_text(*bytes);
  const NpyHeader header = read_npy_header(text);
  const bool typed = header.size != 0;
  if (typed && (header.descr != npy_descr(wanted.element) || header.fortran)) {
    return Status::bad_input(
        path + ": holds " + in_quotes(header.descr) + (header.fortran ? " in Fortran order" : "") +
        ", expected " + npy_descr(wanted.element) + " in C order for " + in_quotes(wanted.name));
  }
  if (const std::string shape = npy_shape(wanted.shape); typed && header.shape != shape) {
    return Status::bad_input(path + ": has the shape (" + header.shape + "), expected (" + shape +
                             ") for " + in_quotes(wanted.name));
  }
  const std::string_view numbers = text.substr(header.size);
  if (numbers.size() != out.size()) {
    return Status::bad_input(path + ": holds " + unlike_bytes(numbers.size(), out.size()) +
                             ", the numbers of " + in_quotes(wanted.name));
  }
  std::memcpy(out.data(), numbers.data(), numbers.size());
  return {};
}

double deviation(Element element, std::span<const std::byte> a, std::span<const std::byte> b) {
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  const size_t width = element_bytes(element);
  if (a.size() != b.size()) return kInfinite;
  if (std::memcmp(a.data(), b.data(), a.size()) == 0) return 0;
  if (width == 0) return kInfinite;
  double worst = 0;
  for (size_t at = 0; at + width <= a.size(); at += width) {
    const double x = number_at(element, a.data() + at), y = number_at(element, b.data() + at);
    if (x == y || (std::isnan(x) && std::isnan(y))) continue;
    const double difference = std::abs(x - y) / (1 + std::abs(y));
    if (!(difference <= worst)) worst = std::isnan(difference) ? kInfinite : difference;
  }
  return worst;
}

double usual_deviation(Element element) {
  constexpr double kRoundings = 16;  // in a row that do not cancel
  if (element == Element::kBfloat16) return kRoundings * 0x1p-8;
  if (element == Element::kFloat16) return kRoundings * 0x1p-11;
  return 1e-3;
}

}  // namespace placeto
