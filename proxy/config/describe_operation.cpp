// Declares the keys of operation: logs, admin socket, metrics, live page, IPFIX, the stop of the program, and files
// that the next run reads.
#include <algorithm>
#include <string>

#include "proxy/config/config.hpp"

namespace sluice::proxy {
namespace {

using config::Choice;
using config::Section;
using namespace std::chrono_literals;

constexpr Choice<LogLevel> log_levels[] = {{"trace", LogLevel::trace}, {"debug", LogLevel::debug},
                                           {"info", LogLevel::info},   {"warning", LogLevel::warning},
                                           {"error", LogLevel::error}, {"critical", LogLevel::critical},
                                           {"off", LogLevel::off}};
constexpr Choice<LogFormat> log_formats[] = {{"text", LogFormat::text, "one human-readable line per event"},
                                             {"json", LogFormat::json, "one JSON object per line"}};

}  // namespace

std::string_view to_string(LogLevel level) {
  const auto* const at = std::find_if(std::begin(log_levels), std::end(log_levels),
                                      [level](const Choice<LogLevel>& each) { return each.value == level; });
  return at != std::end(log_levels) ? at->word : "info";
}

std::optional<LogLevel> parse_log_level(std::string_view word) {
  const auto* const at = std::find_if(std::begin(log_levels), std::end(log_levels),
                                      [word](const Choice<LogLevel>& each) { return each.word == word; });
  return at != std::end(log_levels) ? std::optional(at->value) : std::nullopt;
}

void describe(Section& s, LoggingSettings& logging) {
  s.live([&] {
    s.choice("level", logging.level, log_levels,
             "lowest level of the lines that are logged; sluicectl log-level changes it until the next reload");
  });
  s.choice("format", logging.format, log_formats, "format of log lines");
  s.value("file", logging.file, "path of the log file; not set: standard error. SIGHUP reopens it");
  s.value("syslog", logging.syslog,
          "datagram socket of a syslog daemon, such as `/dev/log`, that also receives each line; not set: none");
  s.value("statistics_period", logging.statistics_period, {0s, 24h}, "interval of the statistics line; 0s = never");
  s.value("warning_period", logging.warning_period, {1s, 24h}, "shortest interval between repetitions of one warning");
}

void describe(Section& s, AdminSettings& admin) {
  s.value("socket", admin.socket,
          "path of the Unix socket for commands of sluicectl; a missing folder is created; empty: no socket. Without "
          "root privileges, another path is needed, and sluicectl needs it as an option");
  s.value("group", admin.group,
          "name or number of a group whose members may also use the socket (mode 0660); not set: only the user that "
          "runs the program (0600)");
  s.check(admin.socket.size() < 108, "socket", "a path of at most 107 characters", std::to_string(admin.socket.size()));
}

void describe(Section& s, MetricsSettings& metrics) {
  s.value("listen", metrics.listen,
          "address at which HTTP serves `/metrics` in OpenMetrics and Prometheus text format, without authentication; "
          "not set: no HTTP");
}

void describe(Section& s, PageSettings& page) {
  config::describe(s, page);
  s.value("switch_modes", page.switch_modes, "clients with the token may also change `mode` from the page");
}

void describe(Section& s, IpfixSettings& ipfix) {
  s.required().value("collector", ipfix.collector,
                     "address and UDP port of the collector, which gets a record of each connection that ends");
  s.value("domain", ipfix.domain, {0, 4'294'967'295}, "observation domain id, which distinguishes several exporters");
  s.value("template_refresh", ipfix.template_refresh, {1s, 24h},
          "interval at which the templates are repeated, because datagrams may be lost");
  s.value("enterprise", ipfix.enterprise, {1, 4'294'967'295},
          "private enterprise number of the elements that IANA does not have; the default is the number for "
          "documentation (RFC 5612)");
  s.check(ipfix.collector.port != 0, "collector", "a port", "0");
}

void describe(Section& s, StopSettings& stop) {
  s.value("drain", stop.drain, {0s, 10min},
          "time in which split connections return to their hosts, at most doubled while the number of those that hold "
          "bytes falls; the rest is reset on both sides");
}

void describe(Section& s, StateSettings& state) {
  s.value("file", state.file,
          "path of a file that survives a crash, best on a tmpfs such as /run: it records split connections (128 bytes "
          "for each of limits.max_flows of every shard), so that the next run can reset those that lost bytes; not "
          "set: no file");
  s.value("keep", state.keep, {10s, 24h},
          "time after a crash or stop during which a segment of such a connection is answered with a reset");
  s.check(!state.file || !state.file->empty(), "file", "a path", "nothing");
}

void describe(Section& s, LastFramesSettings& frames) {
  s.value("file", frames.file,
          "path of a file that survives a crash, on a tmpfs such as /run: it holds the last frames received and sent, "
          "which sluicectl capture --recover reads; not set: no file");
  s.value("size", frames.size, {Bytes(1 << 20), Bytes(std::int64_t{64} << 30U)},
          "size of that file for all shards; a frame takes 24 bytes and snap_length");
  s.value("snap_length", frames.snap_length, {Bytes(64), Bytes(9216)}, "most bytes kept of a frame");
  s.value("payload", frames.payload, "payload is kept up to snap_length, not only headers");
  s.check(!frames.file || !frames.file->empty(), "file", "a path", "nothing");
}

void describe(Section& s, ConfineSettings& confine) {
  s.value("seccomp", confine.seccomp,
          "after start, only system calls that the running program needs are allowed; others fail as if the kernel "
          "lacked them");
}

}  // namespace sluice::proxy
