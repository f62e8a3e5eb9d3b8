#include "control/reference.hpp"

#include <array>
#include <charconv>
#include <cmath>

namespace sluice::control {
namespace {

struct UnitName {
  std::string_view name;
  Reference::Unit unit;
  double factor;
};
constexpr std::array unit_names{
    UnitName{"frames", Reference::Unit::frames, 1},   UnitName{"frame", Reference::Unit::frames, 1},
    UnitName{"B", Reference::Unit::bytes, 1},         UnitName{"KiB", Reference::Unit::bytes, 1024},
    UnitName{"MiB", Reference::Unit::bytes, 1048576}, UnitName{"kB", Reference::Unit::bytes, 1000},
    UnitName{"MB", Reference::Unit::bytes, 1e6},      UnitName{"s", Reference::Unit::time, 1},
    UnitName{"ms", Reference::Unit::time, 1e-3},      UnitName{"us", Reference::Unit::time, 1e-6},
};
/// Largest value of a reference (target queue length) in any unit. It keeps every conversion to an integer within the
/// range of the integer.
constexpr double largest = 1e12;

std::string shortest(double value) {
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  return {text.data(), end};
}

}  // namespace

std::optional<Reference> Reference::parse(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || !std::isfinite(value) || std::signbit(value)) return std::nullopt;
  std::string_view unit = text.substr(static_cast<std::size_t>(end - text.data()));
  if (unit.starts_with(' ')) unit.remove_prefix(1);
  for (const UnitName& known : unit_names) {
    if (unit != known.name) continue;
    const double amount = value * known.factor;
    if (amount > largest) return std::nullopt;
    return Reference(known.unit, amount);
  }
  return std::nullopt;
}

std::string Reference::to_string() const {
  switch (unit_) {
    case Unit::frames:
      return shortest(value_) + " frames";
    case Unit::bytes:
      return shortest(value_) + " B";
    case Unit::time:
      return shortest(value_) + " s";
  }
  return {};
}

}  // namespace sluice::control
