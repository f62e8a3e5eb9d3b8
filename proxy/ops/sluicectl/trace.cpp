// Implements `sluicectl trace`, which stores the decisions of controllers, and `sluicectl replay`, which repeats them
// with control::Replay. Invariant: only complete lines are written, and an incomplete trace is reported as an error.
#include "proxy/ops/sluicectl/trace.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "proxy/ops/admin/printable.hpp"
#include "proxy/ops/sluicectl/repeat.hpp"
#include "proxy/ops/sluicectl/streaming.hpp"

namespace sluice::sluicectl {
namespace {

std::string count_of(std::uint64_t number, std::string_view one) {
  return std::to_string(number) + " " + std::string(one) + (number == 1 ? "" : "s");
}

/// Splits the received stream of a decision log into lines, so that only complete lines are written to the output.
/// Keeps the newest line, because the log's last line contains the numbers of written and lost lines.
class Lines {
 public:
  /// Adds received bytes. Returns the lines that these bytes complete.
  [[nodiscard]] std::string take(std::string_view bytes) {
    pending_ += bytes;
    const std::size_t whole = pending_.rfind('\n') + 1;
    std::string lines = pending_.substr(0, whole);
    pending_.erase(0, whole);
    count_ += static_cast<std::uint64_t>(std::count(lines.begin(), lines.end(), '\n'));
    if (!lines.empty()) last_ = lines.substr(lines.size() < 2 ? 0 : lines.rfind('\n', lines.size() - 2) + 1);
    return lines;
  }
  /// Returns the numbers of written and of lost lines as text, from the last line of the log. Throws std::runtime_error
  /// if the stream ended before that line.
  [[nodiscard]] std::string totals() const {
    constexpr bool no_exceptions = false;
    const nlohmann::json last = nlohmann::json::parse(last_, nullptr, no_exceptions);
    if (!last.is_object() || last.value("event", "") != "end")
      throw std::runtime_error(count_of(count_, "line") + "; the trace was cut off");
    return count_of(last.value("lines", std::uint64_t{0}), "line") + ", " +
           std::to_string(last.value("lost", std::uint64_t{0})) + " lost because they were not read in time";
  }

 private:
  std::string pending_;
  std::string last_;
  std::uint64_t count_ = 0;
};

control::Replay::Change change_of(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == 0 || equals == std::string::npos || equals + 1 == text.size())
    throw std::invalid_argument("--set: NAME=VALUE, such as gain=1.4 or clamp.gain=600, not " + text);
  return {text.substr(0, equals), text.substr(equals + 1)};
}

void write(std::ostream& out, const control::Replay::Difference& difference) {
  nlohmann::ordered_json line;
  line["line"] = difference.line;
  for (const char* const name : {"at", "of", "law", "event"}) {
    if (const auto value = difference.recorded.find(name); value != difference.recorded.end()) line[name] = *value;
  }
  line["recorded"] = difference.recorded.at("out");
  line["replayed"] = difference.out;
  out << line.dump(-1, ' ', true) << '\n';
}

std::string summary(const control::ReplayTotals& totals, bool changed) {
  std::string text = count_of(totals.decisions, "decision") + " of " + count_of(totals.laws, "law") + ", ";
  text += totals.differing == 0 ? (changed ? "none otherwise" : "all as recorded")
                                : std::to_string(totals.differing) + " otherwise" + (changed ? "" : " than recorded");
  if (totals.unknown > 0)
    text += "; " + std::to_string(totals.unknown) + " more of controllers whose state is not recorded";
  if (totals.lost > 0) text += "; " + count_of(totals.lost, "line") + " lost when it was taken";
  if (!totals.complete) text += "; the trace is cut off";
  return text;
}

}  // namespace

TraceCommand TraceCommand::take(std::vector<std::string> words) {
  TraceCommand command;
  if (const auto file = take_option(words, "-w")) command.file = *file;
  command.line = asked_line("trace", words);
  return command;
}

void run_trace(const TraceCommand& command, const std::string& socket, std::chrono::milliseconds timeout) {
  Connection connection(socket);
  connection.begin(command.line, timeout);
  const Descriptor file(opened(command.file));
  Lines lines;
  for (std::string bytes = connection.next(); !bytes.empty(); bytes = connection.next()) {
    if (!write_all(file.get(), lines.take(bytes))) return;  // the reader of the output has closed it
  }
  std::fprintf(stderr, "sluicectl: %s\n", lines.totals().c_str());
}

ReplayCommand ReplayCommand::take(std::vector<std::string> words) {
  ReplayCommand command;
  while (const auto change = take_option(words, "--set")) command.changes.push_back(change_of(*change));
  if (words.size() != 1) throw std::invalid_argument("replay: name a file that `trace -w FILE` wrote");
  command.file = words.front();
  return command;
}

bool replay(std::istream& trace, const ReplayCommand& command, std::ostream& out, std::ostream& messages) {
  const bool changed = !command.changes.empty();
  std::uint64_t differences = 0;
  control::Replay replay(
      [&](const control::Replay::Difference& difference) {
        if (changed || differences++ == 0) write(out, difference);
      },
      command.changes);
  std::string line;
  std::uint64_t lines = 0;
  while (std::getline(trace, line)) {
    replay.take(line);
    ++lines;
  }
  if (trace.bad()) throw std::runtime_error("it cannot be read");
  if (lines == 0) throw std::runtime_error("it is empty");
  for (const std::string& name : replay.unused_changes())
    throw std::runtime_error("--set: no law in this trace has a parameter " + name);
  messages << summary(replay.totals(), changed) << '\n';
  return changed || replay.totals().differing == 0;
}

bool run_replay(const ReplayCommand& command) {
  std::ifstream file;
  if (command.file != "-") {
    file.open(command.file);
    if (!file) throw std::runtime_error(command.file + " cannot be read");
  }
  try {
    std::ostringstream messages;
    const bool fine = replay(command.file == "-" ? std::cin : file, command, std::cout, messages);
    std::cout.flush();
    std::fprintf(stderr, "sluicectl: %s", messages.str().c_str());
    return fine;
  } catch (const std::runtime_error& problem) {
    throw std::runtime_error(command.file + ": " + admin::printable(problem.what(), true));
  }
}

}  // namespace sluice::sluicectl
