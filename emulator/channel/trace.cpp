// Implements CapacityTrace and TraceChannel: reads, checks and replays link traces in Mahimahi's format. Traces come
// from files that may be hostile: line length, number range, order and count are checked before use. An error names
// file and line. A TraceChannel advances through the endless repetition of its trace, so its cost per TTI is the number
// of opportunities in it.

#include "emulator/channel/trace.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <istream>
#include <ostream>
#include <utility>

namespace sluice::emulator {
namespace {

/// Length from which on a line is rejected. Every valid number is shorter, so longer lines are not read into memory.
constexpr std::streamsize max_line_length = 32;

/// Throws a TraceError that states the name of the trace, the line, and the error `what`.
[[noreturn]] void fail(const std::string& name, std::uint64_t line, const std::string& what) {
  throw TraceError(name + ":" + std::to_string(line) + ": " + what);
}

/// Returns `text` without control characters, because a message with hostile text may go to a terminal.
std::string printable(std::string_view text) {
  std::string out = "\"";
  for (const char c : text.substr(0, 20)) out += c >= ' ' && c <= '~' ? c : '?';
  return out + "\"";
}

std::uint32_t parse_line(std::string_view text, const std::string& name, std::uint64_t line) {
  if (text.empty()) fail(name, line, "empty line, expected a time in whole milliseconds");
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool too_large = error == std::errc::result_out_of_range || value > CapacityTrace::max_millisecond;
  if (error == std::errc::invalid_argument || end != text.data() + text.size()) {
    fail(name, line, "expected a time in whole milliseconds, got " + printable(text));
  }
  if (too_large) {
    fail(name, line,
         "expected at most " + std::to_string(CapacityTrace::max_millisecond) + " ms, got " + printable(text));
  }
  return static_cast<std::uint32_t>(value);
}

void check_order(std::uint32_t before, std::uint32_t value, const std::string& name, std::uint64_t line) {
  if (value >= before) return;
  fail(name, line,
       "times must not decrease, expected at least " + std::to_string(before) + ", got " + std::to_string(value));
}

void check_end(const std::vector<std::uint32_t>& lines, const std::string& name) {
  if (lines.empty()) fail(name, 1, "the trace is empty, expected at least one line");
  if (lines.back() == 0) fail(name, lines.size(), "the last time must be above 0 ms, got 0");
}

}  // namespace

CapacityTrace::CapacityTrace(std::vector<std::uint32_t> milliseconds, const std::string& name)
    : milliseconds_(std::move(milliseconds)) {
  check_end(milliseconds_, name);
  if (milliseconds_.size() > max_lines) fail(name, max_lines + 1, "more lines than a trace may have");
  for (std::size_t i = 1; i < milliseconds_.size(); ++i) {
    check_order(milliseconds_[i - 1], milliseconds_[i], name, i + 1);
  }
  if (milliseconds_.back() > max_millisecond) fail(name, milliseconds_.size(), "the last time is too large");
}

CapacityTrace CapacityTrace::load(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw TraceError(path + ": cannot be opened");
  return read(file, path);
}

CapacityTrace CapacityTrace::read(std::istream& in, const std::string& name) {
  std::vector<std::uint32_t> lines;
  char text[max_line_length];
  while (in.getline(text, max_line_length)) {
    // gcount() includes the newline, which the last line may lack.
    const auto length = static_cast<std::size_t>(in.gcount()) - (in.eof() ? 0 : 1);
    if (lines.size() == max_lines) {
      fail(name, max_lines + 1, "expected at most " + std::to_string(max_lines) + " lines, got more");
    }
    const std::uint64_t line = lines.size() + 1;
    const std::uint32_t value = parse_line({text, length}, name, line);
    if (!lines.empty()) check_order(lines.back(), value, name, line);
    lines.push_back(value);
  }
  if (in.bad()) fail(name, lines.size() + 1, "cannot be read");
  if (!in.eof()) fail(name, lines.size() + 1, "the line is too long, expected a time in whole milliseconds");
  return CapacityTrace(std::move(lines), name);
}

void CapacityTrace::write(std::ostream& out) const {
  for (const std::uint32_t line : milliseconds_) out << line << '\n';
}

Rate CapacityTrace::mean_rate() const {
  return Rate::of(opportunity * static_cast<std::int64_t>(milliseconds_.size()), period());
}

TraceChannel::TraceChannel(std::shared_ptr<const CapacityTrace> trace, Duration tti, Duration offset)
    : trace_(std::move(trace)), tti_(tti), offset_(offset) {
  if (tti <= Duration::zero()) throw std::invalid_argument("trace channel: the TTI must be positive");
  if (trace_ == nullptr) throw std::invalid_argument("trace channel: there is no trace");
  if (offset < Duration::zero()) throw std::invalid_argument("trace channel: the offset must not be negative");
  next_ = position_of(0, {});
  // Opportunities before the start of the run are skipped; one exactly at the start is kept.
  if (offset > Duration::zero()) static_cast<void>(pass(next_, offset - Duration(1)));
}

TraceChannel::Position TraceChannel::position_of(std::size_t line, Duration lap) const {
  return {line, lap, lap + std::chrono::milliseconds(trace_->milliseconds()[line])};
}

TraceChannel::Position TraceChannel::behind(const Position& position) const {
  const bool last = position.line + 1 == trace_->milliseconds().size();
  return last ? position_of(0, position.lap + trace_->period()) : position_of(position.line + 1, position.lap);
}

std::uint64_t TraceChannel::bytes_until(std::uint64_t tti) {
  return pass(next_, offset_ + tti_ * static_cast<Duration::rep>(tti)) *
         static_cast<std::uint64_t>(CapacityTrace::opportunity.count());
}

std::span<const LinkGrant> TraceChannel::ahead(std::uint64_t tti) {
  grant_.capacity = Bytes(bytes_until(tti));
  return {&grant_, 1};
}

bool TraceChannel::skip(std::uint64_t /*from*/, std::uint64_t to, std::uint64_t& offered) {
  offered += bytes_until(to - 1);
  return true;
}

std::uint64_t TraceChannel::next_useful(std::uint64_t tti) {
  // All opportunities up to the start of the TTI before are used already.
  Position position = next_;
  if (tti > 0) static_cast<void>(pass(position, offset_ + tti_ * static_cast<Duration::rep>(tti - 1)));
  const Duration wait = position.due - offset_;
  return std::max(tti, static_cast<std::uint64_t>((wait.count() + tti_.count() - 1) / tti_.count()));
}

}  // namespace sluice::emulator
