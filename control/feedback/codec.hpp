#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "control/feedback/failure.hpp"
#include "control/feedback/report.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::control::feedback {

// Wire format of PROTOCOL.md without authentication; session.hpp adds that.

inline constexpr std::uint32_t magic = 0x534c4642;  ///< "SLFB"
inline constexpr std::uint8_t version = 1;
inline constexpr std::size_t header_size = 56;
inline constexpr std::size_t default_max_datagram = 1400;
/// Largest datagram for peers that accept large ones: the payload of a 9000-byte frame over IPv6.
inline constexpr std::size_t largest_datagram = 8952;

enum class MessageType : std::uint8_t {
  report = 1,  ///< Node-B → proxy
  status = 2   ///< proxy → Node-B
};

/// Optional features that the sender of a message accepts.
struct Abilities {
  bool changes = false;  ///< REPORTs that leave out UEs without changes
  bool large = false;    ///< datagrams above default_max_datagram, up to largest_datagram bytes
};

/// Header fields of a datagram.
struct Header {
  MessageType type = MessageType::report;
  bool poll = false;  ///< requests an immediate answer for all bearers
  std::uint32_t key_id = 0;
  std::uint16_t records = 0;
  std::uint64_t sender = 0;    ///< sender id, stable over restarts
  std::uint64_t epoch = 0;     ///< increases with every restart of the sender; never 0
  std::uint64_t sequence = 0;  ///< increases with every datagram of the epoch, from 1
  Duration sender_time{};      ///< sender's monotonic clock; only differences are meaningful
  Duration period{};           ///< Ts: time to the next regular message; 0 = none is announced
  Abilities takes;             ///< features that the sender accepts
  /// Longest interval between two reports of a UE, in a REPORT that leaves out unchanged UEs; 0 if it contains all.
  /// Transmitted as an omission record, so it is known only after all records were read.
  Duration refresh{};
};

/// Writes the records of a datagram into a buffer that it does not own. Every put succeeds or leaves the buffer
/// unchanged.
class DatagramWriter {
 public:
  /// Starts a datagram in `buffer`, which has space for at least the header and `extension`. The extension follows the
  /// header fields and must outlive the writer.
  explicit DatagramWriter(std::span<std::uint8_t> buffer, std::span<const std::uint8_t> extension = {});

  /// Adds one record; returns false if it does not fit.
  [[nodiscard]] bool add(const BearerReport& report);
  [[nodiscard]] bool add(const BearerStatus& status);
  /// Adds a record which states that the message leaves out unchanged UEs; see Header::refresh.
  [[nodiscard]] bool add_omission(Duration refresh);
  [[nodiscard]] std::uint16_t records() const { return records_; }
  /// Writes the header, whose `records` is the number of records added, and returns the datagram without its tag.
  [[nodiscard]] std::span<const std::uint8_t> finish(Header header);
  /// Starts the next datagram in the same buffer.
  void reset();

 private:
  std::span<std::uint8_t> buffer_;
  std::span<const std::uint8_t> extension_;
  std::size_t used_;
  std::uint16_t records_ = 0;
};

/// Bytes that add_omission() takes of a datagram.
inline constexpr std::size_t omission_size = 14;

/// Returns how many records, from the first on, fit one datagram of `max_datagram` bytes including the tag.
[[nodiscard]] std::size_t fitting(std::span<const BearerReport> reports, std::size_t max_datagram);
[[nodiscard]] std::size_t fitting(std::span<const BearerStatus> statuses, std::size_t max_datagram);
/// Returns the number of datagrams that Session::send_reports() makes of these reports if each has `room` bytes for
/// records (without header and tag). `leaves_out` is true if a refresh interval is given.
[[nodiscard]] std::uint64_t datagrams_of(std::span<const BearerReport> reports, std::size_t room, bool leaves_out);
/// Returns a record as its receiver reads it: rates in whole bit/s and nothing below zero. For senders that pass
/// records without a wire.
[[nodiscard]] BearerReport as_received(BearerReport report);
[[nodiscard]] BearerStatus as_received(BearerStatus status);

/// Result of decode_header().
struct Decoded {
  Failure failure = Failure::none;
  Header header;                          ///< complete if failure is none
  std::span<const std::uint8_t> records;  ///< bytes after the header
};

/// Receiver of the contents of datagrams.
class RecordHandler {
 public:
  /// Called for a datagram that was accepted as a whole; its records follow, if there are any.
  virtual void on_message(const Header& /*header*/) {}
  virtual void on_report(const Header& header, const BearerReport& report) = 0;
  virtual void on_status(const Header& header, const BearerStatus& status) = 0;
  /// Called while records are read: the message leaves out UEs. Session passes complete messages with this value in
  /// their header instead.
  virtual void on_omission(Duration /*refresh*/) {}

 protected:
  ~RecordHandler() = default;
};

/// Reads a header without authentication. `datagram` excludes the tag.
[[nodiscard]] Decoded decode_header(std::span<const std::uint8_t> datagram);
/// Reads the records after a header. Without a handler it only checks them. With a handler it passes each record as
/// soon as it is read, so a caller that needs all or nothing must check first.
[[nodiscard]] Failure decode_records(std::span<const std::uint8_t> records, const Header& header,
                                     RecordHandler* handler);

}  // namespace sluice::control::feedback
