#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dataplane/units/bytes.hpp"
#include "dataplane/units/ip_address.hpp"
#include "dataplane/units/rate.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::config {

/// IP address with a UDP or TCP port, written "192.0.2.1:9000" or "[2001:db8::1]:9000".
struct SocketAddress {
  IpAddress address;
  std::uint16_t port = 0;
  auto operator<=>(const SocketAddress&) const = default;
};

/// Share of a whole, written "5%" and stored as 0.05.
struct Percentage {
  double fraction = 0;
  auto operator<=>(const Percentage&) const = default;
};

/// Range of values that a key accepts, including both ends.
template <typename T>
struct Range {
  T min;
  T max;
};

/// Notation of values of type T in configuration files. `kind` describes the notation in errors ("a duration such as
/// 20ms"), and `name` is its name in the reference. parse() returns nothing for malformed text. For text from format()
/// it returns an equal value. limits() is the widest possible range; only ordered types have it.
template <typename T>
struct Scalar;

template <>
struct Scalar<bool> {
  static constexpr std::string_view kind = "true or false";
  static constexpr std::string_view name = "switch";
  static std::optional<bool> parse(std::string_view text);
  static std::string format(bool value);
};

/// Parses a decimal whole number. Returns nothing if the text contains anything else or the number does not fit.
/// Instantiated for the standard integer types from unsigned char to long.
template <typename T>
[[nodiscard]] std::optional<T> parse_whole(std::string_view text);

/// Parses a time in seconds from a command line and rounds it up to milliseconds. Returns nothing if the text is
/// malformed, or if the time is not above 0 or is above `most`.
[[nodiscard]] std::optional<Duration> parse_seconds(const std::string& text, std::chrono::seconds most);

/// Notation of whole numbers: decimal digits.
template <typename T>
requires std::integral<T> &&(!std::same_as<T, bool>)struct Scalar<T> {
  static constexpr std::string_view kind = "a whole number";
  static constexpr std::string_view name = "whole number";
  static constexpr Range<T> limits() { return {std::numeric_limits<T>::min(), std::numeric_limits<T>::max()}; }
  static std::optional<T> parse(std::string_view text) { return parse_whole<T>(text); }
  static std::string format(T value) { return std::to_string(value); }
};

/// Notation of finite numbers without a unit.
template <>
struct Scalar<double> {
  static constexpr std::string_view kind = "a number";
  static constexpr std::string_view name = "number";
  static constexpr Range<double> limits() {
    return {std::numeric_limits<double>::lowest(), std::numeric_limits<double>::max()};
  }
  static std::optional<double> parse(std::string_view text);
  static std::string format(double value);
};

/// Notation of durations: a number with one of the units ns, us, ms, s, min, h.
template <>
struct Scalar<Duration> {
  static constexpr std::string_view kind = "a duration such as 20ms (ns, us, ms, s, min, h)";
  static constexpr std::string_view name = "duration";
  static constexpr Range<Duration> limits() { return {Duration::zero(), Duration::max()}; }
  static std::optional<Duration> parse(std::string_view text);
  static std::string format(Duration value);
};

/// Notation of sizes: a number with one of the units B, kB, MB, GB (powers of 1000), KiB, MiB, GiB (powers of 1024).
template <>
struct Scalar<Bytes> {
  static constexpr std::string_view kind = "a size such as 64KiB (B, kB, MB, GB, KiB, MiB, GiB)";
  static constexpr std::string_view name = "size";
  static constexpr Range<Bytes> limits() { return {Bytes(0), Bytes::max()}; }
  static std::optional<Bytes> parse(std::string_view text);
  static std::string format(Bytes value);
};

/// Notation of rates: a number with one of the units b/s, kb/s, Mb/s, Gb/s (bits), B/s, kB/s, MB/s, GB/s (bytes);
/// powers of 1000.
template <>
struct Scalar<Rate> {
  static constexpr std::string_view kind = "a rate such as 10Mb/s (b/s, kb/s, Mb/s, Gb/s, B/s, kB/s, MB/s, GB/s)";
  static constexpr std::string_view name = "rate";
  static constexpr Range<Rate> limits() { return {Rate(), Rate::bytes_per_second(1e15)}; }
  static std::optional<Rate> parse(std::string_view text);
  static std::string format(Rate value);
};

template <>
struct Scalar<Percentage> {
  static constexpr std::string_view kind = "a percentage such as 5%";
  static constexpr std::string_view name = "percentage";
  static constexpr Range<Percentage> limits() { return {{-1e9}, {1e9}}; }
  static std::optional<Percentage> parse(std::string_view text);
  static std::string format(Percentage value);
};

template <>
struct Scalar<IpAddress> {
  static constexpr std::string_view kind = "an IPv4 or IPv6 address";
  static constexpr std::string_view name = "address";
  static std::optional<IpAddress> parse(std::string_view text) { return IpAddress::parse(text); }
  static std::string format(const IpAddress& value) { return value.to_string(); }
};

template <>
struct Scalar<IpPrefix> {
  static constexpr std::string_view kind = "a prefix such as 10.45.0.0/16, its host bits zero";
  static constexpr std::string_view name = "prefix";
  static std::optional<IpPrefix> parse(std::string_view text) { return IpPrefix::parse(text); }
  static std::string format(const IpPrefix& value) { return value.to_string(); }
};

template <>
struct Scalar<SocketAddress> {
  static constexpr std::string_view kind = "an address and port such as 127.0.0.1:9000 or [::1]:9000";
  static constexpr std::string_view name = "address:port";
  static std::optional<SocketAddress> parse(std::string_view text);
  static std::string format(const SocketAddress& value);
};

/// Notation of texts: any characters except control characters.
template <>
struct Scalar<std::string> {
  static constexpr std::string_view kind = "text without control characters";
  static constexpr std::string_view name = "text";
  static std::optional<std::string> parse(std::string_view text);
  static std::string format(const std::string& value) { return value; }
};

/// Parses a number and its unit, such as "3km/h" or "38dBm", with optional blanks between them. Used for units that no
/// Scalar has. Returns nothing if the number is malformed or the unit is not `unit`.
[[nodiscard]] std::optional<double> parse_quantity(std::string_view text, std::string_view unit);

/// Returns the most similar word in `keys` by edit distance. Returns an empty text if no word is similar.
[[nodiscard]] std::string nearest(std::string_view word, const std::vector<std::string>& keys);

}  // namespace sluice::config
