#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <csignal>
#include <filesystem>

#include "emulator/nodeb/commands.hpp"
#include "emulator/scenario/describe.hpp"

namespace sluice::emulator {

std::atomic<bool> stop_requested{false};
static_assert(std::atomic<bool>::is_always_lock_free, "set from a signal handler");

namespace {

extern "C" void on_stop_signal(int number) {
  stop_requested = true;
  std::signal(number, SIG_DFL);  // the next one is not asked to wait
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
