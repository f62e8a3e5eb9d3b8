#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <csignal>
#include <ctime>
#include <filesystem>

#include "emulator/nodeb/commands.hpp"
#include "emulator/scenario/describe.hpp"

namespace sluice::emulator {

std::atomic<bool> stop_requested{false};
static_assert(std::atomic<bool>::is_always_lock_free, "set from a signal handler");

namespace {

/// CLOCK_MONOTONIC of the first, s; what a signal handler may ask for.
volatile std::sig_atomic_t stop_requested_at = 0;

/// A second one is not asked to wait, but for one that comes at once: an impatient hand, or a terminal and a parent.
extern "C" void on_stop_signal(int number) {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  const auto seconds = static_cast<std::sig_atomic_t>(now.tv_sec);
  if (!stop_requested.exchange(true)) {
    stop_requested_at = seconds;
  } else if (seconds - stop_requested_at > 1) {
    std::signal(number, SIG_DFL);
    std::raise(number);
  }
}

}  // namespace

void catch_signals() {
  std::signal(SIGINT, on_stop_signal);
  std::signal(SIGTERM, on_stop_signal);
  std::signal(SIGPIPE, SIG_IGN);
}

void start_log() {
  spdlog::set_default_logger(spdlog::stderr_color_mt("nodeb"));
  spdlog::set_pattern("%H:%M:%S.%e %^%l%$ %v");
}

std::optional<Plan> read_plan(const std::string& file, unsigned seeds) {
  config::Loaded<Plan> loaded = load_plan(file, seeds);
  for (const config::Error& warning : loaded.warnings) spdlog::warn("{}", warning.to_string());
  if (loaded) return std::move(*loaded);
  std::fputs(config::to_string(loaded.errors).c_str(), stderr);
  return std::nullopt;
}

std::optional<RunMode> parse_mode(const std::string& word) {
  using Word = config::Scalar<RunMode>;
  const std::optional<RunMode> mode = Word::parse(word);
  if (!mode)
    std::fprintf(stderr, "nodeb: --mode: expected %s, got \"%s\"\n", std::string(Word::kind).c_str(), word.c_str());
  return mode;
}

TraceLibrary trace_library(const std::string& file, const std::vector<std::string>& folders) {
  std::vector<std::string> places = folders;
  const std::filesystem::path folder = std::filesystem::path(file).parent_path();
  places.push_back(folder.empty() ? "." : folder.string());
  return TraceLibrary(std::move(places));
}

}  // namespace sluice::emulator
