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

/// A trace that cannot be used; what() reads "file:line: what, expected, got".
class TraceError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Delivery opportunities in Mahimahi's format (Netravali et al., USENIX ATC 2015): one integer per line, the
/// millisecond at which one opportunity occurs; equal lines repeat, never decrease, the last is > 0, and after it the
/// trace starts again, shifted by the last line.
class CapacityTrace {
 public:
  /// Bytes of IP that one opportunity carries. (Mahimahi itself counts 1504, 4 of them its TUN device's header.)
  static constexpr Bytes opportunity{1500};
  static constexpr std::uint64_t max_lines = 50'000'000;
  static constexpr std::uint64_t max_millisecond = 1'000'000'000;  ///< 11.5 days

  /// Takes the lines as numbers. Throws TraceError, naming `name` and the line, when they break a rule above.
  explicit CapacityTrace(std::vector<std::uint32_t> milliseconds, const std::string& name = "trace");
  /// Reads a file. Throws TraceError when it cannot be read, is empty, or a line is not such a number.
  [[nodiscard]] static CapacityTrace load(const std::string& path);
  /// Does the same from a stream; `name` stands in for the file's in errors.
  [[nodiscard]] static CapacityTrace read(std::istream& in, const std::string& name);
  void write(std::ostream& out) const;

  [[nodiscard]] std::span<const std::uint32_t> milliseconds() const { return milliseconds_; }
  /// The time after which the trace repeats.
  [[nodiscard]] Duration period() const { return std::chrono::milliseconds(milliseconds_.back()); }
  [[nodiscard]] Rate mean_rate() const;

 private:
  std::vector<std::uint32_t> milliseconds_;
};

/// Replays a capacity trace, byte for byte as Mahimahi's link shell does: an opportunity is used in its millisecond, by
/// one or several packets; a packet that does not fit leaves with its last byte in a later one; what is not used is
/// lost. With a TTI other than 1 ms an opportunity is used in the first TTI that begins at its millisecond or later.
class TraceChannel final : public Channel {
 public:
  /// Throws std::invalid_argument unless tti > 0. `offset` is where in the trace the run begins.
  TraceChannel(std::shared_ptr<const CapacityTrace> trace, Duration tti, Duration offset = {});

  [[nodiscard]] std::uint64_t next_useful(std::uint64_t tti) override;

 protected:
  [[nodiscard]] std::span<const Grant> ahead(std::uint64_t tti) override;
  [[nodiscard]] bool skip(std::uint64_t from, std::uint64_t to, std::uint64_t& offered) override;

 private:
  /// An opportunity of the endless replay.
  struct Position {
    std::size_t line = 0;
    Duration lap{};  ///< when this repetition of the trace began
    Duration due{};  ///< when it occurs
  };
  [[nodiscard]] Position position_of(std::size_t line, Duration lap) const;
  /// Passes over the opportunities up to and including `until` (in the trace's time) and says how many.
  std::uint64_t pass(Position& position, Duration until) const {
    std::uint64_t passed = 0;
    for (; position.due <= until; ++passed) position = behind(position);
    return passed;
  }
  [[nodiscard]] Position behind(const Position& position) const;
  std::uint64_t bytes_until(std::uint64_t tti);

  std::shared_ptr<const CapacityTrace> trace_;
  Duration tti_;
  Duration offset_;
  Position next_;  ///< the first opportunity not yet granted
  Grant grant_;
};

}  // namespace sluice::emulator
