// Merges the decision log lines of all shards into one stream of JSON lines. Its first line is metadata, its last line
// holds totals. The admin server calls take() on the control thread. Invariant: only complete lines are passed on, and
// lost lines are counted in the last one.
#include "proxy/ops/decision_log/trace_stream.hpp"

#include <algorithm>
#include <utility>

#include "proxy/ops/admin/command.hpp"

namespace sluice::tracing {
namespace {

/// Maximum time to wait at the end of a recording until all shards stop using the decision log. A shard that takes
/// longer is considered stalled.
constexpr Duration longest_farewell = std::chrono::seconds(1);
/// Version of the line format of decision logs, which the first line of a log contains. control::Replay, which runs
/// controllers again with a recorded log, checks it.
constexpr int format = 1;

std::int64_t nanoseconds_of(Instant instant) {
  return instant.time_since_epoch().count();
}

}  // namespace

TraceStream::TraceStream(Parts parts, const Request& request, std::vector<std::shared_ptr<ShardTrace>> shards)
    : parts_(std::move(parts)), request_(request) {
  if (request_.duration) deadline_ = parts_.now() + *request_.duration;
  for (auto& shard : shards) sources_.push_back({std::move(shard), {}});
}

TraceStream::~TraceStream() {
  if (!ended_) parts_.detach();
}

void TraceStream::finish() {
  if (ended_) return;
  ended_ = parts_.now();
  parts_.detach();
}

bool TraceStream::take(std::string& out, std::size_t most) {
  if (!std::exchange(header_written_, true)) begin(out);
  const Instant now = parts_.now();
  if (deadline_ && now >= *deadline_) finish();
  // Checked before the last read, so that no line can arrive after it.
  const bool last = ended_ && (parts_.detached() || now - *ended_ >= longest_farewell);
  for (Source& source : sources_) {
    source.shard->ring.take(source.text, most / sources_.size());
    const std::size_t whole = source.text.rfind('\n') + 1;
    add_lines(out, std::string_view(source.text).substr(0, whole));
    source.text.erase(0, whole);
  }
  if (!last || !drained()) return true;
  end(out);
  return false;
}

/// Appends lines to `out`, until the log has the requested number of lines. Ends the recording when it has them.
void TraceStream::add_lines(std::string& out, std::string_view lines) {
  while (!lines.empty()) {
    if (request_.lines && lines_ >= *request_.lines) return finish();
    const std::size_t length = lines.find('\n') + 1;
    out += lines.substr(0, length);
    lines.remove_prefix(length);
    ++lines_;
  }
}

bool TraceStream::drained() const {
  return std::all_of(sources_.begin(), sources_.end(), [](const Source& source) { return source.shard->ring.empty(); });
}

void TraceStream::begin(std::string& out) const {
  admin::Json line{{"sluice_trace", format},
                   {"program", parts_.program},
                   {"ue", request_.selection.ue.to_string()},
                   {"at", nanoseconds_of(parts_.now())},
                   {"since_1970", parts_.wall()}};
  if (request_.selection.ue_port) line["ue_port"] = *request_.selection.ue_port;
  out += line.dump() + "\n";
}

void TraceStream::end(std::string& out) const {
  std::uint64_t lost = 0;
  for (const Source& source : sources_) lost += source.shard->trace.lost();
  const admin::Json line{{"at", nanoseconds_of(*ended_)}, {"event", "end"}, {"lines", lines_}, {"lost", lost}};
  out += line.dump() + "\n";
}

}  // namespace sluice::tracing
