// Times are sums of rounded numbers: the same terms in another order may differ in the last bits.
#pragma once

namespace placeto {

// Times that differ by a smaller share than this may be the same time.
inline constexpr double kRounding = 1e-9;

// What a time is at least and at most, in whatever order it was added up.
constexpr double rounded_down(double us) {
  return us * (1 - kRounding);
}
constexpr double rounded_up(double us) {
  return us * (1 + kRounding);
}

}  // namespace placeto
