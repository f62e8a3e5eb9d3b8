// Session of the feedback protocol: splits records into datagrams, signs them, and checks received ones. Used by
// UdpEndpoint for sockets and by the virtual-time network. The order of checks is that of PROTOCOL.md: sizes, magic,
// version, key and tag, then header and replay, then all records. No record reaches the handler before the whole
// datagram was accepted.

#include "control/feedback/session.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "control/feedback/wire.hpp"

namespace sluice::control::feedback {
namespace {

constexpr std::size_t smallest_datagram = 256;  // one whole record with header and tag

/// Returns the key that signs this side's datagrams; null if it is not configured.
const Key* send_key_of(const SessionConfig& config) {
  const auto found =
      std::find_if(config.keys.begin(), config.keys.end(), [&](const Key& key) { return key.id == config.send_key; });
  return found == config.keys.end() ? nullptr : &*found;
}

/// Returns `config` unchanged; throws std::invalid_argument if it is unusable.
SessionConfig checked(SessionConfig config) {
  if (config.epoch == 0) throw std::invalid_argument("feedback: epoch 0 is not an epoch");
  if (config.max_datagram < smallest_datagram || config.max_datagram > largest_datagram) {
    throw std::invalid_argument("feedback: the largest datagram must be 256 to 8952 bytes");
  }
  if (config.max_senders == 0) throw std::invalid_argument("feedback: at least one sender must be allowed");
  const Key* const key = send_key_of(config);
  if (key == nullptr) throw std::invalid_argument("feedback: the key to send with is not among the keys");
  if (key->algorithm == TagAlgorithm::aes_256_gmac && config.session_id == SessionId{}) {
    throw std::invalid_argument("feedback: a key of AES-256-GMAC needs a session id, drawn for each session");
  }
  return config;
}

/// Returns the message type that this role accepts.
MessageType accepted_by(Role role) {
  return role == Role::proxy ? MessageType::report : MessageType::status;
}

}  // namespace

std::uint64_t next_epoch(std::optional<std::uint64_t> previous, std::uint64_t wall_clock_ns) {
  return std::max({wall_clock_ns, previous ? *previous + 1 : 0, std::uint64_t{1}});
}

std::string to_string(const StaleSender& stale) {
  return "sender " + std::to_string(stale.sender) + " is at epoch " + std::to_string(stale.epoch) +
         " after it was at epoch " + std::to_string(stale.newest) +
         ": either its datagrams are replayed, or its clock went back across a restart; give it a feedback.epoch_file, "
         "or restart the receiver";
}

Session::Session(SessionConfig config)
    : config_(checked(std::move(config))),
      authenticator_(config_.keys),
      replay_(config_.max_senders),
      buffer_(config_.max_datagram),
      limit_(std::min(config_.max_datagram, default_max_datagram)) {}

std::uint64_t Session::send_reports(std::span<const BearerReport> reports, Duration now, Duration period, bool poll,
                                    DatagramSink& sink, Duration refresh) {
  Header header = header_of(MessageType::report, now, period, poll);
  header.refresh = refresh;
  return send(header, reports, sink);
}

std::uint64_t Session::send_statuses(std::span<const BearerStatus> statuses, Duration now, Duration period, bool poll,
                                     DatagramSink& sink) {
  return send(header_of(MessageType::status, now, period, poll), statuses, sink);
}

Header Session::header_of(MessageType type, Duration now, Duration period, bool poll) const {
  return {type, poll, config_.send_key, 0, config_.sender, config_.epoch, 0, now, period, config_.features, {}};
}

/// Sends records in as many datagrams as needed; returns the sequence number of the last datagram.
template <typename Record>
std::uint64_t Session::send(Header header, std::span<const Record> records, DatagramSink& sink) {
  DatagramWriter writer{std::span(buffer_).first(limit_ - tag_size), extension()};
  const auto begin = [&] {
    writer.reset();
    if (header.refresh > Duration::zero()) static_cast<void>(writer.add_omission(header.refresh));
  };
  begin();
  for (const Record& record : records) {
    if (writer.add(record)) continue;
    seal(writer, header, sink);
    begin();
    if (writer.add(record)) continue;
    // The smallest datagram that the configuration permits has space for the largest record alone.
    writer.reset();
    static_cast<void>(writer.add(record));
  }
  seal(writer, header, sink);
  return sequence_;
}

/// Returns the header extension, which is the session id from which peers derive the session's key. Empty if HMAC
/// signs.
std::span<const std::uint8_t> Session::extension() const {
  if (send_key_of(config_)->algorithm != TagAlgorithm::aes_256_gmac) return {};
  return config_.session_id;
}

/// Writes the header, computes the tag and sends the datagram.
void Session::seal(DatagramWriter& writer, Header& header, DatagramSink& sink) {
  header.sequence = ++sequence_;
  const std::span<const std::uint8_t> body = writer.finish(header);
  const std::optional<Tag> tag = authenticator_.sign(config_.send_key, body);
  if (!tag) return;  // out of memory or of sequence numbers: the datagram is lost, as any may be
  std::copy(tag->begin(), tag->end(), buffer_.begin() + static_cast<std::ptrdiff_t>(body.size()));
  sink.send(std::span(buffer_).first(body.size() + tag_size));
}

Failure Session::receive(std::span<const std::uint8_t> datagram, RecordHandler& handler, const ReceivedAt& at) {
  Header header;
  return receive(datagram, handler, at, header);
}

Failure Session::receive(std::span<const std::uint8_t> datagram, RecordHandler& handler, const ReceivedAt& at,
                         Header& header) {
  const Failure failure = judge(datagram, handler, at, header);
  ++counters_[static_cast<std::size_t>(failure)];
  return failure;
}

/// Checks size, magic, version, key id and tag of a datagram. Returns the reason if a check fails, else `none`. No
/// other field is read before the tag is verified.
Failure Session::authenticate(std::span<const std::uint8_t> datagram) {
  if (datagram.size() < header_size + tag_size) return Failure::too_short;
  if (datagram.size() > largest_datagram) return Failure::too_long;
  if (read_number<std::uint32_t>(datagram) != magic) return Failure::bad_magic;
  if (datagram[4] != version) return Failure::unknown_version;
  const auto key_id = read_number<std::uint32_t>(datagram.subspan(8));
  if (!authenticator_.knows(key_id)) return Failure::unknown_key;
  const auto body = datagram.first(datagram.size() - tag_size);
  return authenticator_.verify(key_id, body, datagram.last<tag_size>()) ? Failure::none : Failure::bad_tag;
}

/// Checks a whole datagram and, if it is valid, passes its records to the handler. Returns the reason if it is refused.
Failure Session::judge(std::span<const std::uint8_t> datagram, RecordHandler& handler, const ReceivedAt& at,
                       Header& header) {
  if (const Failure failure = authenticate(datagram); failure != Failure::none) return failure;
  const Decoded decoded = decode_header(datagram.first(datagram.size() - tag_size));
  if (decoded.failure != Failure::none) return decoded.failure;
  if (decoded.header.type != accepted_by(config_.role)) return Failure::unexpected_type;
  if (decoded.header.sender == config_.sender) return Failure::own_sender;
  const auto [sender, epoch] = std::pair(decoded.header.sender, decoded.header.epoch);
  const Failure replay = replay_.take(sender, epoch, decoded.header.sequence, at);
  if (replay == Failure::stale_epoch) stale_ = {sender, epoch, replay_.newer_epoch(sender, epoch)};
  if (replay != Failure::none) return replay;
  // All records are checked before any is passed to the handler.
  gathered_.reports.clear();
  gathered_.statuses.clear();
  gathered_.refresh = {};
  const Failure records = decode_records(decoded.records, decoded.header, &gathered_);
  if (records != Failure::none) return records;
  header = decoded.header;
  header.refresh = gathered_.refresh;
  changes_.record(header.features.changes, at.now);
  large_.record(header.features.large, at.now);
  hand_over(header, handler);
  return Failure::none;
}

/// Passes the header and the records that were checked to the handler.
void Session::hand_over(const Header& header, RecordHandler& handler) const {
  handler.on_message(header);
  for (const BearerReport& report : gathered_.reports) handler.on_report(header, report);
  for (const BearerStatus& status : gathered_.statuses) handler.on_status(header, status);
}

Features Session::peer_features(Instant now) const {
  return {changes_.holds(now), large_.holds(now)};
}

}  // namespace sluice::control::feedback
