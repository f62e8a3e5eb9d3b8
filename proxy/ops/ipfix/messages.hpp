#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "proxy/engine/flow_table/connection_records.hpp"
#include "proxy/ops/ipfix/fields.hpp"

namespace sluice::ipfix {

/// Identity of an IPFIX exporting process.
struct Identity {
  std::uint32_t domain = 0;  ///< observation domain id
  /// private enterprise number for elements that IANA has not registered
  std::uint32_t enterprise = documentation_enterprise;
};

/// Complete IPFIX message, to be sent as one datagram.
struct Message {
  std::vector<std::uint8_t> octets;
  std::uint32_t records = 0;  ///< number of data records in the message
};

/// Wall-clock time in ms since 1970.
using UnixMilliseconds = std::uint64_t;

/// Returns the value of the element flowEndReason (RFC 5102 section 5.11.3) for the reason in a connection record.
[[nodiscard]] std::uint8_t end_reason_of(std::string_view reason);

/// Writes IPFIX messages (RFC 7011). Each connection has one data record, which contains both directions (RFC 5103).
/// Reads no clock and uses no socket. Thread: the owner's.
class MessageWriter {
 public:
  /// Maximum size of a message. It fits the minimum MTU of IPv6, so that no path must fragment it.
  static constexpr std::size_t max_size = 1280 - 40 - 8;

  explicit MessageWriter(const Identity& identity) : identity_(identity) {}

  /// Returns a message with the templates for IPv4 and IPv6. It must be sent before the first record and repeatedly
  /// later, because datagrams may be lost. `now_s` is the export time in seconds since 1970.
  [[nodiscard]] Message templates(std::uint32_t now_s) const;
  /// Adds a record to the current message. If the record does not fit, returns the current message without it, and
  /// starts a new message with the record. `first` and `last` are the start and end time of the connection, `now_s` is
  /// the export time in seconds since 1970.
  [[nodiscard]] std::optional<Message> add(const proxy::ConnectionRecord& record, UnixMilliseconds first,
                                           UnixMilliseconds last, std::uint32_t now_s);
  /// Ends and returns the current message, or returns nothing if it contains no record. `now_s` is the export time in
  /// seconds since 1970.
  [[nodiscard]] std::optional<Message> finish(std::uint32_t now_s);

 private:
  [[nodiscard]] std::vector<std::uint8_t> header(std::uint32_t now_s) const;
  void begin_set(std::uint16_t id);
  void end_set();

  Identity identity_;
  /// current message with its header, which finish() completes; empty if no record was added
  std::vector<std::uint8_t> octets_;
  std::size_t set_at_ = 0;     ///< offset in the current message of the data set to which records are added
  std::uint16_t set_ = 0;      ///< template id of the data set to which records are added; 0 if there is none
  std::uint32_t records_ = 0;  ///< number of data records in the current message
  /// number of data records in all earlier messages; sequence number of the next message (RFC 7011 section 3.1)
  std::uint32_t sequence_ = 0;
};

}  // namespace sluice::ipfix
