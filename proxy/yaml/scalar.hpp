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

/// An address and a UDP or TCP port: "192.0.2.1:9000", "[2001:db8::1]:9000".
struct SocketAddress {
  IpAddress address;
  std::uint16_t port = 0;
  auto operator<=>(const SocketAddress&) const = default;
};

/// A share, written "5%"; 0.05 here.
struct Percentage {
  double fraction = 0;
  auto operator<=>(const Percentage&) const = default;
};

/// The values a key may take, both ends included.
template <typename T>
struct Range {
  T min;
  T max;
};

/// How values of a type are written: `kind` ("a duration"), `example` ("20ms"), parse() (nothing when malformed),
/// format() (parse() reads it back to the same value) and limits() (the widest range; only for ordered types).
template <typename T>
struct Scalar;

template <>
struct Scalar<bool> {
  static constexpr std::string_view kind = "true or false";
  static constexpr std::string_view name = "switch";
  static std::optional<bool> parse(std::string_view text);
  static std::string format(bool value);
};

/// A whole number in decimal and nothing else; nothing when it is malformed or does not fit. For the standard types
/// from unsigned char to long.
template <typename T>
[[nodiscard]] std::optional<T> parse_whole(std::string_view text);

/// A time in seconds as somebody types it, more than 0 and up to `most`, in whole milliseconds and no less; nothing
/// when it is anything else.
[[nodiscard]] std::optional<Duration> parse_seconds(const std::string& text, std::chrono::seconds most);

/// Whole numbers in decimal.
template <typename T>
requires std::integral<T> &&(!std::same_as<T, bool>)struct Scalar<T> {
  static constexpr std::string_view kind = "a whole number";
  static constexpr std::string_view name = "whole number";
  static constexpr Range<T> limits() { return {std::numeric_limits<T>::min(), std::numeric_limits<T>::max()}; }
  static std::optional<T> parse(std::string_view text) { return parse_whole<T>(text); }
  static std::string format(T value) { return std::to_string(value); }
};

/// Finite numbers without a unit.
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

/// ns, us, ms, s, min, h.
template <>
struct Scalar<Duration> {
  static constexpr std::string_view kind = "a duration such as 20ms (ns, us, ms, s, min, h)";
  static constexpr std::string_view name = "duration";
  static constexpr Range<Duration> limits() { return {Duration::zero(), Duration::max()}; }
  static std::optional<Duration> parse(std::string_view text);
  static std::string format(Duration value);
};

/// B, kB, MB, GB (powers of 1000), KiB, MiB, GiB (powers of 1024).
template <>
struct Scalar<Bytes> {
  static constexpr std::string_view kind = "a size such as 64KiB (B, kB, MB, GB, KiB, MiB, GiB)";
  static constexpr std::string_view name = "size";
  static constexpr Range<Bytes> limits() { return {Bytes(0), Bytes::max()}; }
  static std::optional<Bytes> parse(std::string_view text);
  static std::string format(Bytes value);
};

/// b/s, kb/s, Mb/s, Gb/s (bits), B/s, kB/s, MB/s, GB/s (bytes); powers of 1000.
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

/// Text. Control characters are refused.
template <>
struct Scalar<std::string> {
  static constexpr std::string_view kind = "text without control characters";
  static constexpr std::string_view name = "text";
  static std::optional<std::string> parse(std::string_view text);
  static std::string format(const std::string& value) { return value; }
};

/// A number followed by a unit from outside the table above ("3km/h", "38dBm"); blanks between them are allowed.
/// Nothing when the number is malformed or the unit is another.
[[nodiscard]] std::optional<double> parse_quantity(std::string_view text, std::string_view unit);

/// The text of `keys` that `word` was probably meant to be; empty when none is near.
[[nodiscard]] std::string nearest(std::string_view word, const std::vector<std::string>& keys);

}  // namespace sluice::config
