// Parses and formats scalar values of configuration files: numbers, durations, sizes, rates, addresses and text.
// Section's declarations call it, and so do the requests of captures and decision logs (proxy/ops). Invariant: parse()
// accepts the output of format() and returns an equal value.
#include "proxy/yaml/scalar.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <numeric>
#include <span>

namespace sluice::config {
namespace {

struct Unit {
  std::string_view name;
  double factor;
};

// Sorted by size, because format() takes the largest unit that gives a whole number.
constexpr std::array<Unit, 6> time_units{
    {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"min", 6e10}, {"h", 3.6e12}}};
constexpr std::array<Unit, 7> size_units{
    {{"B", 1}, {"kB", 1e3}, {"KiB", 1024}, {"MB", 1e6}, {"MiB", 1048576}, {"GB", 1e9}, {"GiB", 1073741824}}};
// Factors to bits per second.
constexpr std::array<Unit, 8> rate_units{
    {{"b/s", 1}, {"B/s", 8}, {"kb/s", 1e3}, {"kB/s", 8e3}, {"Mb/s", 1e6}, {"MB/s", 8e6}, {"Gb/s", 1e9}, {"GB/s", 8e9}}};

/// Number at the start of a text, and the text after it without leading blanks.
struct NumberAndRest {
  double number;
  std::string_view rest;
};

std::optional<NumberAndRest> split_number(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::general);
  if (error != std::errc() || !std::isfinite(number)) return std::nullopt;
  std::string_view rest = text.substr(static_cast<std::size_t>(end - text.data()));
  while (!rest.empty() && rest.front() == ' ') rest.remove_prefix(1);
  return NumberAndRest{number, rest};
}

std::optional<double> parse_in(std::string_view text, std::span<const Unit> units) {
  const auto parts = split_number(text);
  if (!parts) return std::nullopt;
  for (const Unit& unit : units) {
    if (unit.name == parts->rest) return parts->number * unit.factor;
  }
  return std::nullopt;
}

/// Parses a number with a unit and converts it to the smallest unit. Returns nothing if the result is not a whole
/// number or does not fit.
std::optional<std::int64_t> parse_whole_in(std::string_view text, std::span<const Unit> units) {
  const auto value = parse_in(text, units);
  if (!value || std::abs(*value) >= 9.2e18) return std::nullopt;
  const double whole = std::round(*value);
  if (std::abs(whole - *value) > 1e-6 * std::max(1.0, std::abs(*value) * 1e-6)) return std::nullopt;
  return static_cast<std::int64_t>(whole);
}

std::string format_whole_in(std::int64_t value, std::span<const Unit> units) {
  for (const Unit& unit : std::vector<Unit>(units.rbegin(), units.rend())) {
    const auto factor = static_cast<std::int64_t>(unit.factor);
    if (value != 0 && value % factor == 0) return std::to_string(value / factor) + std::string(unit.name);
  }
  return "0" + std::string(units.front().name);
}

std::string shortest(double value) {
  std::array<char, 64> text{};
  const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() ? std::string(text.data(), end) : std::string("0");
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substituted = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substituted});
    }
  }
  return row[b.size()];
}

}  // namespace

std::optional<bool> Scalar<bool>::parse(std::string_view text) {
  if (text == "true") return true;
  if (text == "false") return false;
  return std::nullopt;
}

std::string Scalar<bool>::format(bool value) {
  return value ? "true" : "false";
}

template <typename T>
std::optional<T> parse_whole(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

template std::optional<int> parse_whole(std::string_view text);
template std::optional<long> parse_whole(std::string_view text);
template std::optional<unsigned char> parse_whole(std::string_view text);
template std::optional<unsigned short> parse_whole(std::string_view text);
template std::optional<unsigned int> parse_whole(std::string_view text);
template std::optional<unsigned long> parse_whole(std::string_view text);

std::optional<Duration> parse_seconds(const std::string& text, std::chrono::seconds most) {
  const std::optional<double> seconds = Scalar<double>::parse(text);
  if (!seconds || !(*seconds > 0) || *seconds > static_cast<double>(most.count())) return std::nullopt;
  constexpr double milliseconds = 1000;
  return std::chrono::milliseconds(std::llround(std::ceil(*seconds * milliseconds)));
}

std::optional<double> Scalar<double>::parse(std::string_view text) {
  const auto parts = split_number(text);
  return parts && parts->rest.empty() && text.back() != ' ' ? std::optional(parts->number) : std::nullopt;
}

std::string Scalar<double>::format(double value) {
  return shortest(value);
}

std::optional<Duration> Scalar<Duration>::parse(std::string_view text) {
  const auto nanoseconds = parse_whole_in(text, time_units);
  return nanoseconds ? std::optional(Duration(*nanoseconds)) : std::nullopt;
}

std::string Scalar<Duration>::format(Duration value) {
  return value == Duration::zero() ? "0s" : format_whole_in(value.count(), time_units);
}

std::optional<Bytes> Scalar<Bytes>::parse(std::string_view text) {
  const auto count = parse_whole_in(text, size_units);
  return count ? std::optional(Bytes(*count)) : std::nullopt;
}

std::string Scalar<Bytes>::format(Bytes value) {
  return format_whole_in(value.count(), size_units);
}

std::optional<Rate> Scalar<Rate>::parse(std::string_view text) {
  const auto bits = parse_in(text, rate_units);
  return bits ? std::optional(Rate::bits_per_second(*bits)) : std::nullopt;
}

std::string Scalar<Rate>::format(Rate value) {
  for (const Unit& unit : {rate_units[6], rate_units[4], rate_units[2], rate_units[0]}) {
    if (value.bps() < unit.factor && unit.factor > 1) continue;
    const std::string text = shortest(value.bps() / unit.factor) + std::string(unit.name);
    if (parse(text) == value) return text;
  }
  return shortest(value.bytes_per_second()) + "B/s";
}

std::optional<Percentage> Scalar<Percentage>::parse(std::string_view text) {
  const auto percent = parse_quantity(text, "%");
  return percent ? std::optional(Percentage{*percent / 100}) : std::nullopt;
}

std::string Scalar<Percentage>::format(Percentage value) {
  const double near = std::round(value.fraction * 1e8) / 1e6;
  return shortest(near / 100 == value.fraction ? near : value.fraction * 100) + "%";
}

std::optional<SocketAddress> Scalar<SocketAddress>::parse(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  std::string_view host = text.substr(0, colon);
  const bool brackets = host.size() >= 2 && host.front() == '[' && host.back() == ']';
  if (brackets) host = host.substr(1, host.size() - 2);
  const auto address = IpAddress::parse(host);
  const auto port = Scalar<std::uint16_t>::parse(text.substr(colon + 1));
  if (!address || !port || brackets != (host.find(':') != std::string_view::npos)) return std::nullopt;
  return SocketAddress{*address, *port};
}

std::string Scalar<SocketAddress>::format(const SocketAddress& value) {
  const std::string host = value.address.to_string();
  return (value.address.is_v4() ? host : "[" + host + "]") + ":" + std::to_string(value.port);
}

std::optional<std::string> Scalar<std::string>::parse(std::string_view text) {
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
  if (std::any_of(text.begin(), text.end(), is_control)) return std::nullopt;
  return std::string(text);
}

std::optional<double> parse_quantity(std::string_view text, std::string_view unit) {
  const auto parts = split_number(text);
  return parts && parts->rest == unit ? std::optional(parts->number) : std::nullopt;
}

std::string nearest(std::string_view word, const std::vector<std::string>& keys) {
  const std::string* best = nullptr;
  std::size_t best_distance = std::max<std::size_t>(2, word.size() / 3) + 1;
  if (word.size() > 64) return {};
  for (const std::string& key : keys) {
    const std::size_t distance = edit_distance(word, key);
    if (distance < best_distance && distance < key.size()) {
      best = &key;
      best_distance = distance;
    }
  }
  return best != nullptr ? *best : std::string();
}

}  // namespace sluice::config
