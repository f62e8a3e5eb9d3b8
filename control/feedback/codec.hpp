#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "control/feedback/failure.hpp"
#include "control/feedback/report.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::control::feedback {

// The wire format of PROTOCOL.md, without authentication: see session.hpp for the whole.

inline constexpr std::uint32_t magic = 0x534c4642;  ///< "SLFB"
inline constexpr std::uint8_t version = 1;
inline constexpr std::size_t header_size = 56;
inline constexpr std::size_t default_max_datagram = 1400;
/// Of a peer that takes large ones: what fits into a frame of 9000 bytes, over IPv6.
inline constexpr std::size_t largest_datagram = 8952;

enum class MessageType : std::uint8_t {
  report = 1,  ///< Node-B → proxy
  status = 2   ///< proxy → Node-B
};

/// What the sender of a message takes besides what every version does.
struct Abilities {
  bool changes = false;  ///< REPORTs that leave out UEs of which nothing has changed
  bool large = false;    ///< datagrams of more than default_max_datagram bytes, up to largest_datagram
};

/// The header of a datagram.
struct Header {
  MessageType type = MessageType::report;
  bool poll = false;  ///< the sender asks for an answer at once, of all bearers
  std::uint32_t key_id = 0;
  std::uint16_t records = 0;
  std::uint64_t sender = 0;    ///< stable over restarts
  std::uint64_t epoch = 0;     ///< grows with every restart of the sender; never 0
  std::uint64_t sequence = 0;  ///< grows with every datagram of the epoch, from 1
  Duration sender_time{};      ///< the sender's monotonic clock; only differences mean anything
  Duration period{};           ///< Ts: the time to the next regular message; 0 = none is announced
  Abilities takes;             ///< what may be sent to the sender
  /// Of a REPORT that leaves out UEs of which nothing has changed: each is reported so often at least; 0 = all are
  /// there. A record, which comes with the others; known to whoever a whole message is handed to.
  Duration refresh{};
};

/// Appends to a buffer that it does not own. Every put either fits or leaves the buffer as it was.
class DatagramWriter {
 public:
  /// `buffer` holds at least a header and its `extension`, which follows the fields and outlives the writer.
  explicit DatagramWriter(std::span<std::uint8_t> buffer, std::span<const std::uint8_t> extension = {});

  /// Adds one record; false when it does not fit any more.
  [[nodiscard]] bool add(const BearerReport& report);
  [[nodiscard]] bool add(const BearerStatus& status);
  /// The message leaves out UEs of which nothing has changed; see Header::refresh.
  [[nodiscard]] bool add_omission(Duration refresh);
  [[nodiscard]] std::uint16_t records() const { return records_; }
  /// Writes the header (its `records` is taken from what was added) and returns the datagram without its tag.
  [[nodiscard]] std::span<const std::uint8_t> finish(Header header);
  /// Starts the next datagram in the same buffer.
  void reset();

 private:
  std::span<std::uint8_t> buffer_;
  std::span<const std::uint8_t> extension_;
  std::size_t used_;
  std::uint16_t records_ = 0;
};

/// What add_omission() takes of a datagram.
inline constexpr std::size_t omission_size = 14;

/// How many of these, from the first on, a sender puts into one datagram of `max_datagram` bytes, tag included.
[[nodiscard]] std::size_t fitting(std::span<const BearerReport> reports, std::size_t max_datagram);
[[nodiscard]] std::size_t fitting(std::span<const BearerStatus> statuses, std::size_t max_datagram);
/// How many datagrams Session::send_reports() makes of these, where each has room for `room` bytes of records (header
/// and tag not among them). `leaves_out`: it is given a refresh.
[[nodiscard]] std::uint64_t datagrams_of(std::span<const BearerReport> reports, std::size_t room, bool leaves_out);
/// A record as its receiver reads it: the wire has whole bit/s, and nothing below zero. For who hands records over
/// without a wire.
[[nodiscard]] BearerReport as_received(BearerReport report);
[[nodiscard]] BearerStatus as_received(BearerStatus status);

/// What decode_header() found.
struct Decoded {
  Failure failure = Failure::none;
  Header header;                          ///< complete when failure is none
  std::span<const std::uint8_t> records;  ///< what follows the header
};

/// Takes what a datagram says.
class RecordHandler {
 public:
  /// A datagram that was accepted as a whole; its records follow, if it has any.
  virtual void on_message(const Header& /*header*/) {}
  virtual void on_report(const Header& header, const BearerReport& report) = 0;
  virtual void on_status(const Header& header, const BearerStatus& status) = 0;
  /// While records are read: the message leaves out UEs. Whole messages have it in their header.
  virtual void on_omission(Duration /*refresh*/) {}

 protected:
  ~RecordHandler() = default;
};

/// Reads a header without judging whether it is authentic. `datagram` excludes the tag.
[[nodiscard]] Decoded decode_header(std::span<const std::uint8_t> datagram);
/// Reads the records after a header. With `handler` null it only checks; with a handler it hands over each record as it
/// is read, so whoever wants all or nothing checks first.
[[nodiscard]] Failure decode_records(std::span<const std::uint8_t> records, const Header& header,
                                     RecordHandler* handler);

}  // namespace sluice::control::feedback
