// Implements `sluicectl capture`: compiles the filter, requests the capture and writes its pcapng blocks; --recover
// reads a file of last frames instead. main.cpp calls it. Invariant: only complete blocks are written, so that the
// output can be read after any interruption.
#include "proxy/ops/sluicectl/capture.hpp"

#include <pcap/pcap.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>

#include "proxy/ops/admin/command.hpp"
#include "proxy/ops/admin/printable.hpp"
#include "proxy/ops/capture/program.hpp"
#include "proxy/ops/capture/recovery.hpp"
#include "proxy/ops/sluicectl/blocks.hpp"
#include "proxy/ops/sluicectl/repeat.hpp"
#include "proxy/ops/sluicectl/streaming.hpp"

namespace sluice::sluicectl {
namespace {

/// Opens the output file for captured frames. Throws std::invalid_argument if the file is a terminal, because frames
/// are binary data.
int opened_for_frames(const std::string& file) {
  if (file == "-" && isatty(STDOUT_FILENO) != 0)
    throw std::invalid_argument("capture: standard output is a terminal; -w FILE, or | tshark -r -");
  return opened(file);
}

/// Prints the counts of the frames in a capture on standard error. Throws std::runtime_error if the stream ended before
/// the statistics.
void print_totals(const CaptureTotals& totals) {
  const std::string captured = std::to_string(totals.frames) + " frames captured";
  if (!totals.complete)
    throw std::runtime_error(captured + "; the capture was cut off: the number of lost frames is unknown");
  const std::string text = captured + ", " + std::to_string(totals.lost) +
                           " lost because they were not read in time, of " + std::to_string(totals.selected) +
                           " that matched";
  std::fprintf(stderr, "sluicectl: %s\n", text.c_str());
}

}  // namespace

std::string compile_filter(const std::string& expression) {
  constexpr int longest_frame = 65535;
  constexpr int optimise = 1;
  const std::unique_ptr<pcap_t, void (*)(pcap_t*)> handle(pcap_open_dead(DLT_EN10MB, longest_frame), pcap_close);
  bpf_program compiled{};
  if (pcap_compile(handle.get(), &compiled, expression.c_str(), optimise, PCAP_NETMASK_UNKNOWN) != 0)
    throw std::invalid_argument("--filter: " + std::string(pcap_geterr(handle.get())));
  const std::unique_ptr<bpf_program, void (*)(bpf_program*)> owner(&compiled, pcap_freecode);
  const std::span<const bpf_insn> instructions(compiled.bf_insns, compiled.bf_len);
  if (!capture::Program::checked({instructions.begin(), instructions.end()}))
    throw std::invalid_argument("--filter: the filter is too long, or contains a loop such as protochain");
  return capture::Program::to_text(instructions);
}

CaptureCommand CaptureCommand::take(std::vector<std::string> words) {
  CaptureCommand command;
  if (const auto file = take_option(words, "-w")) command.file = *file;
  command.recover = take_option(words, "--recover");
  if (command.recover && !words.empty())
    throw std::invalid_argument("capture: --recover allows only -w; tshark -Y selects frames");
  const auto filter = take_option(words, "--filter");
  command.line = asked_line("capture", words, "; a filter follows --filter, in quotes");
  if (filter) command.line += " --program " + compile_filter(*filter);
  return command;
}

namespace {

void run_recovery(const std::string& from, const std::string& to) {
  std::signal(SIGPIPE, SIG_IGN);
  std::optional<Descriptor> file;
  bool read = true;
  const capture::Recovered recovered = capture::recover(from, [&](std::string_view bytes) {
    if (!file) file.emplace(opened_for_frames(to));  // an unreadable source creates no file
    read = read && write_all(file->get(), bytes);
  });
  constexpr std::uint64_t nanoseconds = 1'000'000'000;
  std::fprintf(stderr, "sluicectl: %zu frames of %llu.%03llu s\n", recovered.frames,
               static_cast<unsigned long long>(recovered.nanoseconds / nanoseconds),
               static_cast<unsigned long long>(recovered.nanoseconds % nanoseconds / 1'000'000));
}

}  // namespace

void run_capture(const CaptureCommand& command, const std::string& socket, std::chrono::milliseconds timeout) {
  if (command.recover) return run_recovery(*command.recover, command.file);
  // Checked before the program starts a capture.
  if (command.file == "-") static_cast<void>(opened_for_frames(command.file));
  Connection connection(socket);
  connection.begin(command.line, timeout);
  const Descriptor file(opened_for_frames(command.file));
  Blocks blocks;
  for (std::string bytes = connection.next(); !bytes.empty(); bytes = connection.next()) {
    const std::optional<std::string> whole = blocks.take(bytes);
    if (!whole) throw std::runtime_error("the program sent no valid capture");
    if (!write_all(file.get(), *whole)) return;  // the reader of the output has closed it
  }
  print_totals(blocks.totals());
}

}  // namespace sluice::sluicectl
