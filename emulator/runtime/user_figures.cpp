#include "emulator/runtime/user_figures.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace sluice::emulator {
namespace {

constexpr double ms_per_minute = 60'000;

void add_pages(RunResult& result, const DelayDigest& pages) {
  if (pages.count() == 0) return;
  result.figures["page_mean_ms"] = to_milliseconds(pages.mean());
  result.figures["page_p50_ms"] = to_milliseconds(pages.percentile(0.5));
  result.figures["page_p95_ms"] = to_milliseconds(pages.percentile(0.95));
}

void add_video(RunResult& result, const VideoLog& video) {
  if (video.starts.count() > 0) result.figures["video_start_ms"] = to_milliseconds(video.starts.mean());
  if (video.segments == 0) return;
  result.figures["video_stalls"] = static_cast<double>(video.stalls);
  result.figures["video_stalled_s"] = to_seconds(video.stalled);
  result.figures["video_bit_rate_bps"] = video.bit_rates_bps / static_cast<double>(video.segments);
  result.figures["video_switches"] = static_cast<double>(video.switches);
}

void add_datagrams(RunResult& result, const std::string& name, const DatagramLog& log) {
  if (log.received == 0) return;
  result.figures[name + "_p50_ms"] = to_milliseconds(log.delays.percentile(0.5));
  result.figures[name + "_p95_ms"] = to_milliseconds(log.delays.percentile(0.95));
  result.figures[name + "_p99_ms"] = to_milliseconds(log.delays.percentile(0.99));
  result.figures[name + "_loss"] = static_cast<double>(log.lost) / static_cast<double>(log.lost + log.received);
}

/// Adds responsiveness in round trips per minute, by the formula of draft-ietf-ippm-responsiveness without TLS.
void add_responsiveness(RunResult& result, const ResponsivenessLog& log) {
  if (log.kept.empty() || log.answers.empty()) return;
  const double handshake = to_milliseconds(trimmed_mean(log.handshakes));
  const double answer = to_milliseconds(trimmed_mean(log.answers));
  const double kept = to_milliseconds(trimmed_mean(log.kept));
  result.figures["probe_fresh_ms"] = handshake + answer;
  result.figures["probe_kept_ms"] = kept;
  if (handshake + answer <= 0 || kept <= 0) return;
  result.figures["rpm_fresh"] = ms_per_minute / ((handshake + answer) / 2);
  result.figures["rpm_kept"] = ms_per_minute / kept;
  result.figures["rpm"] = (result.figures["rpm_fresh"] + result.figures["rpm_kept"]) / 2;
}

}  // namespace

Duration trimmed_mean(std::vector<Duration> times) {
  if (times.empty()) return {};
  std::sort(times.begin(), times.end());
  const std::size_t kept = times.size() - times.size() / 20;
  Duration sum{};
  for (std::size_t i = 0; i < kept; ++i) sum += times[i];
  return sum / static_cast<std::int64_t>(kept);
}

void add_user_figures(RunResult& result, const FlowLog& log, const DatagramLog& game_up) {
  add_pages(result, log.page_times);
  add_video(result, log.video);
  add_datagrams(result, "game_down", log.game);
  add_datagrams(result, "game_up", game_up);
  add_responsiveness(result, log.responsiveness);
}

}  // namespace sluice::emulator
