#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "control/feedback/failure.hpp"
#include "control/feedback/report.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::control::feedback {

// Wire format of PROTOCOL.md without authentication; session.hpp adds that.

inline constexpr std::uint32_t magic = 0x534c4642;  ///< first four bytes of every datagram: "SLFB"
inline constexpr std::uint8_t version = 1;
inline constexpr std::size_t header_size = 56;
inline constexpr std::size_t default_max_datagram = 1400;
/// Largest datagram for peers that accept large ones: the payload of a 9000-byte frame over IPv6.
inline constexpr std::size_t largest_datagram = 8952;

enum class MessageType : std::uint8_t {
  report = 1,  ///< radio queues of UEs, from a Node-B to a proxy
  status = 2   ///< state of bearers (bytes sent to each UE), from a proxy to a Node-B
};

/// Optional features of the protocol that the sender of a message accepts.
struct Features {
  bool changes = false;  ///< accepts REPORT datagrams that omit UEs whose state has not changed
  bool large = false;    ///< accepts datagrams above default_max_datagram, up to largest_datagram bytes
};

/// Header fields of a datagram.
struct Header {
  MessageType type = MessageType::report;
  bool poll = false;  ///< true if the sender requests that the status of all bearers is sent immediately
  std::uint32_t key_id = 0;
  std::uint16_t records = 0;
  std::uint64_t sender = 0;    ///< id of the sender, stable over its restarts
  std::uint64_t epoch = 0;     ///< epoch of the sender: increases with every restart; never 0
  std::uint64_t sequence = 0;  ///< sequence number of the datagram: increases with every datagram of the epoch, from 1
  Duration sender_time{};      ///< time on the sender's monotonic clock; only differences are meaningful
  Duration period{};           ///< Ts: time until the sender's next regular message; 0 if the sender announces none
  Features features;           ///< optional features that the sender of the datagram accepts

  /// Longest interval between two reports of a UE, if the REPORT omits UEs that have not changed; 0 if it omits none.
  /// It is known only after all records were read, because an omission record carries it.
  Duration refresh{};
};

/// Writes the records of a datagram into a buffer of the caller. Every add() succeeds or leaves the buffer unchanged.
class DatagramWriter {
 public:
  /// Starts a datagram in `buffer`, which must have space for at least the header and `extension`. The extension
  /// follows the header fields: it is the session id of AES-256-GMAC, or empty. Both arguments must outlive the writer.
  explicit DatagramWriter(std::span<std::uint8_t> buffer, std::span<const std::uint8_t> extension = {});

  /// Adds one record to the datagram; returns false if it does not fit.
  [[nodiscard]] bool add(const BearerReport& report);
  [[nodiscard]] bool add(const BearerStatus& status);
  /// Adds the omission record, which states that the message omits unchanged UEs; see Header::refresh. Returns false if
  /// it does not fit.
  [[nodiscard]] bool add_omission(Duration refresh);
  [[nodiscard]] std::uint16_t records() const { return records_; }
  /// Writes the header, whose `records` is the number of records added, and returns the datagram without its tag.
  [[nodiscard]] std::span<const std::uint8_t> finish(Header header);
  /// Starts the next datagram in the buffer of the last one.
  void reset();

 private:
  std::span<std::uint8_t> buffer_;
  std::span<const std::uint8_t> extension_;
  std::size_t used_;
  std::uint16_t records_ = 0;
};

/// Number of bytes that the record of add_omission() occupies in a datagram.
inline constexpr std::size_t omission_size = 14;

/// Returns how many of the reports, from the first one on, fit in one datagram of `max_datagram` bytes including the
/// tag.
[[nodiscard]] std::size_t fitting(std::span<const BearerReport> reports, std::size_t max_datagram);
[[nodiscard]] std::size_t fitting(std::span<const BearerStatus> statuses, std::size_t max_datagram);
/// Returns the number of datagrams that Session::send_reports() needs for these reports. `room` is the number of bytes
/// for records in one datagram, without header and tag. `omits_unchanged` is true if unchanged UEs are omitted.
[[nodiscard]] std::uint64_t datagrams_of(std::span<const BearerReport> reports, std::size_t room, bool omits_unchanged);
/// Returns the report with the values that its receiver decodes: rates in whole bit/s, and zero instead of negative
/// values. Used for reports that are passed on without being encoded.
[[nodiscard]] BearerReport as_received(BearerReport report);
[[nodiscard]] BearerStatus as_received(BearerStatus status);

/// Result of decode_header(): the header fields or the reason of the failure.
struct Decoded {
  Failure failure = Failure::none;
  Header header;                          ///< header fields; all are valid only if `failure` is none
  std::span<const std::uint8_t> records;  ///< bytes of the records, which follow the header
};

/// Receiver of the headers and records that a datagram contains.
class RecordHandler {
 public:
  /// Called when a whole datagram was accepted, before any of its records is passed.
  virtual void on_message(const Header& /*header*/) {}
  virtual void on_report(const Header& header, const BearerReport& report) = 0;
  virtual void on_status(const Header& header, const BearerStatus& status) = 0;
  /// Called while records are read, if the message omits unchanged UEs. Session does not call this function, because it
  /// passes `refresh` in the header of on_message().
  virtual void on_omission(Duration /*refresh*/) {}

 protected:
  ~RecordHandler() = default;
};

/// Reads the header of a datagram without checking its tag. `datagram` excludes the tag.
[[nodiscard]] Decoded decode_header(std::span<const std::uint8_t> datagram);
/// Reads the records after a header. If `handler` is null, only checks them; otherwise passes each record as soon as it
/// is read. Returns Failure::none if all are valid. Call it first with null if records of an invalid datagram must not
/// be processed.
[[nodiscard]] Failure decode_records(std::span<const std::uint8_t> records, const Header& header,
                                     RecordHandler* handler);

}  // namespace sluice::control::feedback
