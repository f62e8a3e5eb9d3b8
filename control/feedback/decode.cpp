// Decoder of the feedback protocol (PROTOCOL.md). Session calls it for every datagram after authentication. Every
// length is checked before a field is read, because even an authenticated sender may be faulty. Unknown fields and
// records are skipped; a known field that is malformed or repeated refuses the datagram.

#include <algorithm>
#include <limits>
#include <optional>

#include "control/feedback/codec.hpp"
#include "control/feedback/fields.hpp"
#include "control/feedback/wire.hpp"

namespace sluice::control::feedback {
namespace {

using Octets = std::span<const std::uint8_t>;

constexpr std::size_t record_header_size = 4;
constexpr std::size_t field_header_size = 2;
constexpr auto largest_signed = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
/// Longest report period that a sender may announce.
constexpr auto longest_period = static_cast<std::uint64_t>(Duration(std::chrono::minutes(1)).count());

/// Reads the value of one field of a record, and stores the first failure.
class FieldReader {
 public:
  explicit FieldReader(Octets value) : value_(value) {}
  [[nodiscard]] Failure failure() const { return failure_; }

  void into(IpAddress& address) {
    if (value_.size() == 4) {
      address = IpAddress::v4(value_[0], value_[1], value_[2], value_[3]);
    } else if (value_.size() == address.octets.size()) {
      std::copy(value_.begin(), value_.end(), address.octets.begin());
    } else {
      failure_ = Failure::malformed_field;
    }
  }
  void into(std::uint64_t& number) { number = whole<std::uint64_t>(); }
  void into(std::optional<std::uint64_t>& number) { into(number.emplace()); }
  void into(std::uint32_t& number) { number = whole<std::uint32_t>(); }
  void into(Bytes& amount) { amount = Bytes(bounded(whole<std::uint64_t>(), largest_signed)); }
  void into(std::optional<Bytes>& amount) { into(amount.emplace()); }
  void into(Rate& rate) {
    rate = Rate::bits_per_second(static_cast<double>(bounded(whole<std::uint64_t>(), largest_signed)));
  }
  void into(RadioState& state) {
    state = static_cast<RadioState>(bounded(whole<std::uint8_t>(), static_cast<std::uint64_t>(RadioState::released)));
  }
  /// Reads the refresh interval, which must not be 0.
  void into_refresh(Duration& refresh) {
    const std::uint64_t number = bounded(whole<std::uint64_t>(), longest_period);
    if (number == 0 && failure_ == Failure::none) failure_ = Failure::value_out_of_range;
    refresh = Duration(number);
  }
  void into(std::optional<ClampPrice>& clamp) {
    if (value_.size() != 2 * sizeof(std::uint64_t)) {
      failure_ = Failure::malformed_field;
      return;
    }
    const std::uint64_t queue = bounded(read_number<std::uint64_t>(value_), largest_signed);
    const std::uint64_t price = bounded(read_number<std::uint64_t>(value_.last(8)), largest_signed);
    clamp = ClampPrice{Bytes(queue), Duration(price)};
  }

 private:
  /// Returns the field's value as a number; records a failure if the field has another size.
  template <typename Number>
  Number whole() {
    if (value_.size() == sizeof(Number)) return read_number<Number>(value_);
    failure_ = Failure::malformed_field;
    return 0;
  }
  /// Returns `number` if it is at most `most`; otherwise records a failure.
  std::uint64_t bounded(std::uint64_t number, std::uint64_t most) {
    if (number <= most) return number;
    failure_ = Failure::value_out_of_range;
    return 0;
  }
  Octets value_;
  Failure failure_ = Failure::none;
};

constexpr std::uint8_t last_report_field = static_cast<std::uint8_t>(ReportField::allowance);
constexpr std::uint8_t last_status_field = static_cast<std::uint8_t>(StatusField::reporter);

// Each field is read into the member of the same name.
void read_field(std::uint8_t id, FieldReader& in, BearerReport& report) {
  switch (static_cast<ReportField>(id)) {
#define X(number, name)   \
  case ReportField::name: \
    return in.into(report.name);
    SLUICE_REPORT_FIELDS(X)
#undef X
  }
}

void read_field(std::uint8_t id, FieldReader& in, BearerStatus& status) {
  switch (static_cast<StatusField>(id)) {
#define X(number, name)   \
  case StatusField::name: \
    return in.into(status.name);
    SLUICE_STATUS_FIELDS(X)
#undef X
  }
}

/// Reads all fields of one record. Returns the first failure, or `none`. Fields with numbers above `last_known` are
/// unknown and are skipped; a known field that repeats is a failure.
template <typename Record>
Failure read_record(Octets fields, std::uint8_t last_known, Record& record) {
  std::uint32_t seen = 0;
  while (!fields.empty()) {
    if (fields.size() < field_header_size) return Failure::malformed_field;
    const std::uint8_t id = fields[0];
    const std::size_t size = fields[1];
    if (size > fields.size() - field_header_size) return Failure::malformed_field;
    const Octets value = fields.subspan(field_header_size, size);
    fields = fields.subspan(field_header_size + size);
    if (id == 0 || id > last_known) continue;
    const std::uint32_t bit = std::uint32_t{1} << id;
    if ((seen & bit) != 0) return Failure::malformed_field;
    seen |= bit;
    FieldReader in(value);
    read_field(id, in, record);
    if (in.failure() != Failure::none) return in.failure();
  }
  constexpr std::uint32_t address_bit = std::uint32_t{1} << 1;
  return (seen & address_bit) != 0 ? Failure::none : Failure::missing_address;
}

Failure read_report(Octets fields, const Header& header, RecordHandler* handler) {
  BearerReport report;
  const Failure failure = read_record(fields, last_report_field, report);
  if (failure == Failure::none && handler != nullptr) handler->on_report(header, report);
  return failure;
}

Failure read_status(Octets fields, const Header& header, RecordHandler* handler) {
  BearerStatus status;
  const Failure failure = read_record(fields, last_status_field, status);
  if (failure == Failure::none && handler != nullptr) handler->on_status(header, status);
  return failure;
}

/// Contents of the omission record, which states that a message omits unchanged UEs.
struct Omission {
  Duration refresh{};
};

void read_field(std::uint8_t id, FieldReader& in, Omission& omission) {
  if (id == static_cast<std::uint8_t>(OmissionField::refresh)) in.into_refresh(omission.refresh);
}

Failure read_omission(Octets fields, RecordHandler* handler) {
  Omission omission;
  const Failure failure = read_record(fields, static_cast<std::uint8_t>(OmissionField::refresh), omission);
  if (failure == Failure::none && handler != nullptr) handler->on_omission(omission.refresh);
  // A message that leaves out UEs without a refresh interval is unusable.
  return failure == Failure::missing_address ? Failure::malformed_record : failure;
}

/// Reads one record and passes it to `handler`. Returns the reason if the record is malformed, else `none`. Records of
/// an unknown kind, or of a kind that does not belong to the message's type, are skipped.
Failure read_any(std::uint16_t kind, Octets fields, const Header& header, RecordHandler* handler) {
  if (header.type == MessageType::report && kind == static_cast<std::uint16_t>(RecordKind::report)) {
    return read_report(fields, header, handler);
  }
  if (header.type == MessageType::report && kind == static_cast<std::uint16_t>(RecordKind::omission)) {
    return read_omission(fields, handler);
  }
  if (header.type == MessageType::status && kind == static_cast<std::uint16_t>(RecordKind::status)) {
    return read_status(fields, header, handler);
  }
  return Failure::none;
}

}  // namespace

Decoded decode_header(Octets datagram) {
  if (datagram.size() < header_size) return {Failure::too_short, {}, {}};
  if (read_number<std::uint32_t>(datagram) != magic) return {Failure::bad_magic, {}, {}};
  if (datagram[4] != version) return {Failure::unknown_version, {}, {}};
  Decoded decoded;
  Header& header = decoded.header;
  const std::uint8_t type = datagram[5];
  const auto flags = read_number<std::uint16_t>(datagram.subspan(6));
  header.poll = (flags & poll_flag) != 0;
  header.features = {(flags & accepts_changes_flag) != 0, (flags & accepts_large_flag) != 0};
  header.key_id = read_number<std::uint32_t>(datagram.subspan(8));
  header.records = read_number<std::uint16_t>(datagram.subspan(12));
  const std::uint64_t length = read_number<std::uint16_t>(datagram.subspan(14));
  header.sender = read_number<std::uint64_t>(datagram.subspan(16));
  header.epoch = read_number<std::uint64_t>(datagram.subspan(24));
  header.sequence = read_number<std::uint64_t>(datagram.subspan(32));
  const std::uint64_t time = read_number<std::uint64_t>(datagram.subspan(40));
  const std::uint64_t period = read_number<std::uint64_t>(datagram.subspan(48));
  if (type != static_cast<std::uint8_t>(MessageType::report) &&
      type != static_cast<std::uint8_t>(MessageType::status)) {
    decoded.failure = Failure::unexpected_type;
    return decoded;
  }
  header.type = static_cast<MessageType>(type);
  if (length < header_size || length > datagram.size() || time > largest_signed || period > longest_period) {
    decoded.failure = Failure::malformed_header;
    return decoded;
  }
  header.sender_time = Duration(time);
  header.period = Duration(period);
  decoded.records = datagram.subspan(length);
  return decoded;
}

Failure decode_records(Octets records, const Header& header, RecordHandler* handler) {
  std::uint32_t count = 0;
  while (!records.empty()) {
    if (records.size() < record_header_size) return Failure::malformed_record;
    const auto kind = read_number<std::uint16_t>(records);
    const std::size_t size = read_number<std::uint16_t>(records.subspan(2));
    if (size > records.size() - record_header_size) return Failure::malformed_record;
    const Failure failure = read_any(kind, records.subspan(record_header_size, size), header, handler);
    if (failure != Failure::none) return failure;
    records = records.subspan(record_header_size + size);
    ++count;
  }
  return count == header.records ? Failure::none : Failure::malformed_record;
}

}  // namespace sluice::control::feedback
