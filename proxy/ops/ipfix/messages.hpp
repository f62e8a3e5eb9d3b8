#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "proxy/engine/flow_table/connection_records.hpp"
#include "proxy/ops/ipfix/fields.hpp"

namespace sluice::ipfix {

/// Identity of an exporting process.
struct Identity {
  std::uint32_t domain = 0;                             ///< observation domain id
  std::uint32_t enterprise = documentation_enterprise;  ///< private enterprise number of the elements of Space::own
};

/// Complete IPFIX message, to be sent as one datagram.
struct Message {
  std::vector<std::uint8_t> octets;
  std::uint32_t records = 0;  ///< number of data records in the message
};

/// Wall-clock time in ms since 1970.
using UnixMilliseconds = std::uint64_t;

/// Returns the value of flowEndReason for the reason of a record (RFC 5102 section 5.11.3).
[[nodiscard]] std::uint8_t end_reason_of(std::string_view reason);

/// Writes IPFIX messages (RFC 7011) with one record for each connection, both directions in one (RFC 5103). Reads no
/// clock and has no socket. Thread: its owner's.
class MessageWriter {
 public:
  /// Maximum size of a message: what fits the smallest MTU of IPv6, so that no path has to fragment it.
  static constexpr std::size_t max_size = 1280 - 40 - 8;

  explicit MessageWriter(const Identity& identity) : identity_(identity) {}

  /// Returns a message with both templates. Send it before any record, and again from time to time, because datagrams
  /// may be lost. `now_s` is the time of export in s since 1970.
  [[nodiscard]] Message templates(std::uint32_t now_s) const;
  /// Adds a record to the message in progress. If the record does not fit, returns that message, and a new one begins
  /// with the record. `first` and `last` are the times of the record.
  [[nodiscard]] std::optional<Message> add(const proxy::ConnectionRecord& record, UnixMilliseconds first,
                                           UnixMilliseconds last, std::uint32_t now_s);
  /// Returns the message in progress; nothing if it has no record.
  [[nodiscard]] std::optional<Message> finish(std::uint32_t now_s);

 private:
  [[nodiscard]] std::vector<std::uint8_t> header(std::uint32_t now_s) const;
  void begin_set(std::uint16_t id);
  void end_set();

  Identity identity_;
  std::vector<std::uint8_t> octets_;  ///< message in progress, without its header
  std::size_t set_at_ = 0;            ///< offset of the open data set
  std::uint16_t set_ = 0;             ///< template id of the open data set; 0: none
  std::uint32_t records_ = 0;         ///< number of records in the message in progress
  std::uint32_t sequence_ = 0;        ///< number of data records in all messages before
};

}  // namespace sluice::ipfix
