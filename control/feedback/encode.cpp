#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "control/feedback/codec.hpp"
#include "control/feedback/fields.hpp"
#include "control/feedback/wire.hpp"

namespace sluice::control::feedback {
namespace {

std::uint64_t on_wire(Bytes amount) {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(amount.count(), 0));
}

std::uint64_t on_wire(Duration span) {
  return static_cast<std::uint64_t>(std::max<Duration::rep>(span.count(), 0));
}

std::uint64_t on_wire(Rate rate) {
  constexpr double fastest = 1e18;  // bit/s; keeps the conversion defined
  return static_cast<std::uint64_t>(std::llround(std::clamp(rate.bps(), 0.0, fastest)));
}

/// A report with every field, about an IPv6 address: 161 bytes.
constexpr std::size_t room_for_record = 192;

/// One record: its header, then its fields. A field whose value is zero is left out. It is put together in a place of
/// its own, where everything fits; only the whole is measured against a datagram.
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
  template <typename Field, typename Number>
  void number(Field field, Number value) {
    if (value == 0) return;
    always(field, value);
  }
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

  /// The record, its length entered.
  [[nodiscard]] std::span<const std::uint8_t> finish() {
    constexpr std::size_t header = 2 * sizeof(std::uint16_t);
    WireWriter length(std::span<std::uint8_t>(octets_).subspan(sizeof(std::uint16_t)));
    length.put(static_cast<std::uint16_t>(out_.position() - header));
    return std::span<const std::uint8_t>(octets_).first(out_.position());
  }

 private:
  template <typename Field>
  void head(Field field, std::size_t size) {
    out_.put(static_cast<std::uint8_t>(field));
    out_.put(static_cast<std::uint8_t>(size));
  }

  std::array<std::uint8_t, room_for_record> octets_;
  WireWriter out_{octets_};
};

void write(RecordWriter& out, const BearerReport& report) {
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

void write(RecordWriter& out, const BearerStatus& status) {
  out.address(StatusField::ue, status.ue);
  out.number(StatusField::injected, status.injected);
  out.number(StatusField::applied_sequence, status.applied_sequence);
  out.number(StatusField::backlog, on_wire(status.backlog));
  out.number(StatusField::active_flows, status.active_flows);
  out.number(StatusField::allowance_left, on_wire(status.allowance_left));
  if (status.reporter) out.always(StatusField::reporter, *status.reporter);
}

template <typename Record>
bool append(std::span<std::uint8_t> buffer, std::size_t& used, RecordKind kind, const Record& record) {
  RecordWriter out(kind);
  write(out, record);
  const std::span<const std::uint8_t> octets = out.finish();
  if (octets.size() > buffer.size() - used) return false;
  std::memcpy(buffer.data() + used, octets.data(), octets.size());
  used += octets.size();
  return true;
}

}  // namespace

DatagramWriter::DatagramWriter(std::span<std::uint8_t> buffer) : buffer_(buffer) {}

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

std::span<const std::uint8_t> DatagramWriter::finish(Header header) {
  WireWriter out(buffer_);
  out.put(magic);
  out.put(version);
  out.put(static_cast<std::uint8_t>(header.type));
  out.put(header.poll ? poll_flag : std::uint16_t{0});
  out.put(header.key_id);
  out.put(records_);
  out.put(static_cast<std::uint16_t>(header_size));
  out.put(header.sender);
  out.put(header.epoch);
  out.put(header.sequence);
  out.put(on_wire(header.sender_time));
  out.put(on_wire(header.period));
  return buffer_.first(used_);
}

void DatagramWriter::reset() {
  used_ = header_size;
  records_ = 0;
}

}  // namespace sluice::control::feedback
