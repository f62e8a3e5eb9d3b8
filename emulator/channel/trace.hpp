#pragma once

#include <cstdint>
#include <iosfwd>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "dataplane/units/rate.hpp"
#include "dataplane/units/time.hpp"
#include "emulator/channel/channel.hpp"

namespace sluice::emulator {

/// Error in a trace; what() returns a text of the form "file:line: what, expected, got".
class TraceError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Delivery opportunities in Mahimahi's format (Netravali et al., USENIX ATC 2015). Each line is the time of one
/// opportunity in milliseconds. Lines may repeat but never decrease. The last line is above 0 and is the period of the
/// trace.
class CapacityTrace {
 public:
  /// IP bytes that one opportunity carries. Mahimahi counts 1504, of which 4 are the header of its TUN device.
  static constexpr Bytes opportunity{1500};
  /// Maximum number of lines of a trace.
  static constexpr std::uint64_t max_lines = 50'000'000;
  static constexpr std::uint64_t max_millisecond = 1'000'000'000;  ///< largest time: 11.5 days

  /// Creates a trace from the numbers in its lines. If the numbers violate the format, throws TraceError with `name`
  /// and the line.
  explicit CapacityTrace(std::vector<std::uint32_t> milliseconds, const std::string& name = "trace");
  /// Reads a trace file. Throws TraceError if it is unreadable, empty or not in the format.
  [[nodiscard]] static CapacityTrace load(const std::string& path);
  /// Reads a trace from a stream; errors contain `name` in place of a file name.
  [[nodiscard]] static CapacityTrace read(std::istream& in, const std::string& name);
  /// Writes the trace in Mahimahi's format.
  void write(std::ostream& out) const;

  [[nodiscard]] std::span<const std::uint32_t> milliseconds() const { return milliseconds_; }
  /// Returns the time after which the trace repeats.
  [[nodiscard]] Duration period() const { return std::chrono::milliseconds(milliseconds_.back()); }
  /// Returns the mean rate in IP bytes over the period.
  [[nodiscard]] Rate mean_rate() const;

 private:
  std::vector<std::uint32_t> milliseconds_;
};

/// Replays a capacity trace byte for byte as Mahimahi's link shell does. One or several packets use a delivery
/// opportunity in its millisecond, and the unused part is lost. A packet that does not fit is continued in later
/// opportunities and leaves with its last byte. With a TTI other than 1 ms, a delivery opportunity belongs to the first
/// TTI that begins at or after its millisecond.
class TraceChannel final : public Channel {
 public:
  /// Creates the link; `offset` is the time in the trace at which the run begins. Throws std::invalid_argument if `tti`
  /// is not positive, `offset` is negative or there is no trace.
  TraceChannel(std::shared_ptr<const CapacityTrace> trace, Duration tti, Duration offset = {});

  [[nodiscard]] std::uint64_t next_useful(std::uint64_t tti) override;

 protected:
  [[nodiscard]] std::span<const LinkGrant> ahead(std::uint64_t tti) override;
  [[nodiscard]] bool skip(std::uint64_t from, std::uint64_t to, std::uint64_t& offered) override;

 private:
  /// A delivery opportunity of the trace, which repeats endlessly.
  struct Position {
    std::size_t line = 0;  ///< index of the opportunity's line in the trace
    Duration lap{};        ///< time at which this repetition of the trace starts
    Duration due{};        ///< time of the opportunity
  };
  /// Returns the delivery opportunity of `line` in the repetition of the trace that begins at `lap`.
  [[nodiscard]] Position position_of(std::size_t line, Duration lap) const;
  /// Advances `position` past all delivery opportunities up to and including `until`, a time in the trace. Returns the
  /// number of these opportunities.
  std::uint64_t pass(Position& position, Duration until) const {
    std::uint64_t passed = 0;
    for (; position.due <= until; ++passed) position = behind(position);
    return passed;
  }
  /// Returns the delivery opportunity after `position`. After the last one of the trace, it is the first one of the
  /// next repetition.
  [[nodiscard]] Position behind(const Position& position) const;
  /// Uses all delivery opportunities up to the start of TTI `tti`. Returns the number of bytes that they carry.
  std::uint64_t bytes_until(std::uint64_t tti);

  std::shared_ptr<const CapacityTrace> trace_;
  Duration tti_;
  Duration offset_;
  Position next_;  ///< first delivery opportunity that no TTI has used yet
  LinkGrant grant_;
};

}  // namespace sluice::emulator
