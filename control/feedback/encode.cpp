// Encoder of the feedback protocol (PROTOCOL.md). Session calls DatagramWriter for every datagram it sends; other
// senders use the size functions to plan datagrams. Each record is built in a buffer of its own and then copied, so a
// record that does not fit leaves the datagram unchanged. A field with value zero is omitted unless its absence has
// another meaning.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "control/feedback/authenticator.hpp"
#include "control/feedback/codec.hpp"
#include "control/feedback/fields.hpp"
#include "control/feedback/wire.hpp"

namespace sluice::control::feedback {
namespace {

/// Returns the unsigned number that represents `amount` in a datagram; negative amounts become 0.
std::uint64_t on_wire(Bytes amount) {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(amount.count(), 0));
}

std::uint64_t on_wire(Duration span) {
  return static_cast<std::uint64_t>(std::max<Duration::rep>(span.count(), 0));
}

std::uint64_t on_wire(Rate rate) {
  constexpr double fastest = 1e18;  // bit/s; keeps the conversion defined
  const double bps = std::clamp(rate.bps(), 0.0, fastest);
  const double below = std::floor(bps);  // one instruction, whereas std::llround() is a call
  return static_cast<std::uint64_t>(below) + (bps - below >= 0.5 ? 1 : 0);
}

/// Buffer size of a record in bytes. The largest one, a report with every field and an IPv6 address, has 161 bytes.
constexpr std::size_t room_for_record = 192;

/// Builds one record in a separate buffer: the record header, then the fields whose value is not zero. The buffer is
/// large enough for every record; only the finished record is compared with the space in the datagram.
class RecordWriter {
 public:
  explicit RecordWriter(RecordKind kind) {
    out_.put(static_cast<std::uint16_t>(kind));
    out_.put(std::uint16_t{0});
  }
  RecordWriter(const RecordWriter&) = delete;
  RecordWriter& operator=(const RecordWriter&) = delete;

  template <typename Field>
  void address(Field field, const IpAddress& address) {
    const std::span<const std::uint8_t> octets(address.octets);
    const bool v4 = address.is_v4();
    head(field, v4 ? 4 : 16);
    out_.put(v4 ? octets.last(4) : octets);
  }
  /// Writes a field with a number unless the number is zero.
  template <typename Field, typename Number>
  void number(Field field, Number value) {
    if (value == 0) return;
    always(field, value);
  }
  /// Writes a field with a number even if the number is zero.
  template <typename Field, typename Number>
  void always(Field field, Number value) {
    head(field, sizeof(Number));
    out_.put(value);
  }
  template <typename Field>
  void pair(Field field, std::uint64_t first, std::uint64_t second) {
    head(field, 2 * sizeof(std::uint64_t));
    out_.put(first);
    out_.put(second);
  }

  /// Writes the record's length into its header and returns the bytes of the record.
  [[nodiscard]] std::span<const std::uint8_t> finish() {
    constexpr std::size_t header = 2 * sizeof(std::uint16_t);
    WireWriter length(std::span<std::uint8_t>(octets_).subspan(sizeof(std::uint16_t)));
    length.put(static_cast<std::uint16_t>(out_.position() - header));
    return std::span<const std::uint8_t>(octets_).first(out_.position());
  }

 private:
  /// Writes the header of a field: its number, and the size of its value in bytes.
  template <typename Field>
  void head(Field field, std::size_t size) {
    out_.put(static_cast<std::uint8_t>(field));
    out_.put(static_cast<std::uint8_t>(size));
  }

  std::array<std::uint8_t, room_for_record> octets_;
  WireWriter out_{octets_};
};

/// Computes the size of a record without building it, field by field as RecordWriter would.
class RecordMeasure {
 public:
  template <typename Field>
  void address(Field, const IpAddress& address) {
    size_ += field_header + (address.is_v4() ? 4 : 16);
  }
  template <typename Field, typename Number>
  void number(Field, Number value) {
    if (value != 0) size_ += field_header + sizeof(Number);
  }
  template <typename Field, typename Number>
  void always(Field, Number) {
    size_ += field_header + sizeof(Number);
  }
  template <typename Field>
  void pair(Field, std::uint64_t, std::uint64_t) {
    size_ += field_header + 2 * sizeof(std::uint64_t);
  }
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  static constexpr std::size_t field_header = 2;
  std::size_t size_ = 2 * sizeof(std::uint16_t);
};

template <typename Out>
void write(Out& out, const BearerReport& report) {
  out.address(ReportField::ue, report.ue);
  out.number(ReportField::state, static_cast<std::uint8_t>(report.state));
  out.number(ReportField::queue, on_wire(report.queue));
  out.number(ReportField::queue_frames, report.queue_frames);
  out.number(ReportField::buffer, on_wire(report.buffer));
  out.number(ReportField::arrived, report.arrived);
  out.number(ReportField::transmitted, report.transmitted);
  out.number(ReportField::delivered, report.delivered);
  out.number(ReportField::dropped, report.dropped);
  out.number(ReportField::service_rate, on_wire(report.service_rate));
  out.number(ReportField::mean_service_rate, on_wire(report.mean_service_rate));
  out.number(ReportField::active_flows, report.active_flows);
  out.number(ReportField::active_users, report.active_users);
  if (report.clamp) out.pair(ReportField::clamp, on_wire(report.clamp->mean_queue), on_wire(report.clamp->price));
  if (report.gwa_window) out.always(ReportField::gwa_window, on_wire(*report.gwa_window));
  if (report.allowance) out.always(ReportField::allowance, on_wire(*report.allowance));
}

template <typename Out>
void write(Out& out, const BearerStatus& status) {
  out.address(StatusField::ue, status.ue);
  out.number(StatusField::injected, status.injected);
  out.number(StatusField::applied_sequence, status.applied_sequence);
  out.number(StatusField::backlog, on_wire(status.backlog));
  out.number(StatusField::active_flows, status.active_flows);
  out.number(StatusField::allowance_left, on_wire(status.allowance_left));
  if (status.reporter) out.always(StatusField::reporter, *status.reporter);
}

template <typename Record>
std::size_t size_of(const Record& record) {
  RecordMeasure measure;
  write(measure, record);
  return measure.size();
}

/// Returns how many of the records, from the first one on, fit one datagram of `max_datagram` bytes with its tag.
template <typename Record>
std::size_t fitting_of(std::span<const Record> records, std::size_t max_datagram) {
  std::size_t room = max_datagram - header_size - tag_size;
  std::size_t count = 0;
  for (const Record& record : records) {
    const std::size_t size = size_of(record);
    if (size > room) break;
    room -= size;
    ++count;
  }
  return count;
}

bool append(std::span<std::uint8_t> buffer, std::size_t& used, std::span<const std::uint8_t> octets) {
  if (octets.size() > buffer.size() - used) return false;
  std::memcpy(buffer.data() + used, octets.data(), octets.size());
  used += octets.size();
  return true;
}

template <typename Record>
bool append(std::span<std::uint8_t> buffer, std::size_t& used, RecordKind kind, const Record& record) {
  RecordWriter out(kind);
  write(out, record);
  return append(buffer, used, out.finish());
}

std::uint16_t flags_of(const Header& header) {
  return static_cast<std::uint16_t>((header.poll ? poll_flag : 0) |
                                    (header.features.changes ? accepts_changes_flag : 0) |
                                    (header.features.large ? accepts_large_flag : 0));
}

}  // namespace

std::size_t fitting(std::span<const BearerReport> reports, std::size_t max_datagram) {
  return fitting_of(reports, max_datagram);
}

std::size_t fitting(std::span<const BearerStatus> statuses, std::size_t max_datagram) {
  return fitting_of(statuses, max_datagram);
}

std::uint64_t datagrams_of(std::span<const BearerReport> reports, std::size_t room, bool omits_unchanged) {
  const std::size_t taken = omits_unchanged && omission_size <= room ? omission_size : 0;
  std::uint64_t count = 1;
  std::size_t left = room - taken;
  for (const BearerReport& report : reports) {
    const std::size_t size = size_of(report);
    if (size > left) {
      ++count;
      left = size <= room - taken ? room - taken : room;
    }
    left -= size;
  }
  return count;
}

BearerReport as_received(BearerReport report) {
  const auto read = [](Bytes& amount) { amount = Bytes(on_wire(amount)); };
  const auto read_rate = [](Rate& rate) { rate = Rate::bits_per_second(static_cast<double>(on_wire(rate))); };
  read(report.queue);
  read(report.buffer);
  read_rate(report.service_rate);
  read_rate(report.mean_service_rate);
  if (report.clamp) {
    read(report.clamp->mean_queue);
    report.clamp->price = Duration(on_wire(report.clamp->price));
  }
  if (report.gwa_window) read(*report.gwa_window);
  if (report.allowance) read(*report.allowance);
  return report;
}

BearerStatus as_received(BearerStatus status) {
  status.backlog = Bytes(on_wire(status.backlog));
  status.allowance_left = Bytes(on_wire(status.allowance_left));
  return status;
}

DatagramWriter::DatagramWriter(std::span<std::uint8_t> buffer, std::span<const std::uint8_t> extension)
    : buffer_(buffer), extension_(extension), used_(header_size + extension.size()) {}

bool DatagramWriter::add(const BearerReport& report) {
  if (!append(buffer_, used_, RecordKind::report, report)) return false;
  ++records_;
  return true;
}

bool DatagramWriter::add(const BearerStatus& status) {
  if (!append(buffer_, used_, RecordKind::status, status)) return false;
  ++records_;
  return true;
}

bool DatagramWriter::add_omission(Duration refresh) {
  RecordWriter out(RecordKind::omission);
  out.always(OmissionField::refresh, on_wire(refresh));
  if (!append(buffer_, used_, out.finish())) return false;
  ++records_;
  return true;
}

std::span<const std::uint8_t> DatagramWriter::finish(Header header) {
  WireWriter out(buffer_);
  out.put(magic);
  out.put(version);
  out.put(static_cast<std::uint8_t>(header.type));
  out.put(flags_of(header));
  out.put(header.key_id);
  out.put(records_);
  out.put(static_cast<std::uint16_t>(header_size + extension_.size()));
  out.put(header.sender);
  out.put(header.epoch);
  out.put(header.sequence);
  out.put(on_wire(header.sender_time));
  out.put(on_wire(header.period));
  out.put(extension_);
  return buffer_.first(used_);
}

void DatagramWriter::reset() {
  used_ = header_size + extension_.size();
  records_ = 0;
}

}  // namespace sluice::control::feedback
