#include "proxy/sluicectl/capture.hpp"

#include <fcntl.h>
#include <pcap/pcap.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <system_error>

#include "proxy/admin/command.hpp"
#include "proxy/admin/printable.hpp"
#include "proxy/capture/program.hpp"
#include "proxy/recorder/recovery.hpp"
#include "proxy/sluicectl/blocks.hpp"
#include "proxy/sluicectl/repeat.hpp"

namespace sluice::sluicectl {
namespace {

std::string reason() {
  return std::generic_category().message(errno);
}

/// Closed when it goes.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ > STDERR_FILENO) close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  [[nodiscard]] int get() const { return number_; }

 private:
  int number_;
};

volatile std::sig_atomic_t asked_socket = -1;

/// The program is to send what it has, and stop. Said here, since a signal may come just before we wait for more.
void end_asking(int) {
  const int before = errno;
  shutdown(asked_socket, SHUT_WR);
  errno = before;
}

/// The first one ends the asking; the second one has its usual effect.
void catch_signals(int socket) {
  asked_socket = socket;
  struct sigaction action {};
  action.sa_handler = end_asking;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
}

int connected_to(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof address.sun_path)
    throw std::runtime_error("bad socket path '" + path + "'");
  std::memcpy(address.sun_path, path.data(), path.size());
  const int number = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (number < 0) throw std::runtime_error("no socket: " + reason());
  if (connect(number, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return number;
  const std::string why = reason();
  close(number);
  throw std::runtime_error("nobody answers on " + path + " (" + why +
                           "); is the program running, and is this its admin socket?");
}

int opened(const std::string& file) {
  if (file == "-") {
    if (isatty(STDOUT_FILENO) != 0)
      throw std::invalid_argument("capture: standard output is a terminal; -w FILE, or | tshark -r -");
    return STDOUT_FILENO;
  }
  constexpr mode_t owner_only = 0600;  // it has addresses, and maybe what connections carry
  const int number = open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, owner_only);
  if (number < 0) throw std::runtime_error(file + " cannot be written: " + reason());
  return number;
}

/// False when the reader is gone. A first signal waits for it.
bool write_all(int number, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(number, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0 && errno == EPIPE) return false;
    if (written < 0) throw std::runtime_error("what was captured cannot be written: " + reason());
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

/// The program's end of the socket.
class Connection {
 public:
  explicit Connection(const std::string& path) : socket_(connected_to(path)) {}

  [[nodiscard]] int socket() const { return socket_.get(); }
  void ask(const std::string& line) {
    if (!write_all(socket_.get(), line + "\n")) throw std::runtime_error("the program takes no question");
  }
  /// The line that comes first; what came behind it is kept. Throws when there is none in time.
  [[nodiscard]] std::string first_line(std::chrono::milliseconds timeout) {
    const auto deadline = std::chrono::steady_clock::now() + timeout;
    std::size_t end = std::string::npos;
    while ((end = input_.find('\n')) == std::string::npos) {
      const auto left =
          std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
      pollfd wait{socket_.get(), POLLIN, 0};
      if (left.count() <= 0 || ::poll(&wait, 1, static_cast<int>(left.count())) <= 0 || !read_more())
        throw std::runtime_error("no answer");
    }
    std::string line = input_.substr(0, end);
    input_.erase(0, end + 1);
    return line;
  }
  /// What has come; empty at the end.
  [[nodiscard]] std::string next() {
    while (input_.empty() && read_more()) {
    }
    return std::exchange(input_, {});
  }

 private:
  /// False at the end.
  bool read_more() {
    std::array<char, 1U << 16U> bytes;
    while (true) {
      const ssize_t count = recv(socket_.get(), bytes.data(), bytes.size(), 0);
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) return false;
      input_.append(bytes.data(), static_cast<std::size_t>(count));
      return true;
    }
  }

  Descriptor socket_;
  std::string input_;
};

/// Throws std::runtime_error when the program has not said how it went.
void tell(const CaptureTotals& totals) {
  const std::string captured = std::to_string(totals.frames) + " frames captured";
  if (!totals.complete) throw std::runtime_error(captured + "; then it was cut off: how many were lost is not known");
  const std::string text = captured + ", " + std::to_string(totals.lost) +
                           " lost because they were not read in time, of " + std::to_string(totals.looked_at) +
                           " that went by";
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
    throw std::invalid_argument("--filter: it is too long, or loops as protochain does");
  return capture::Program::to_text(instructions);
}

CaptureCommand CaptureCommand::take(std::vector<std::string> words) {
  CaptureCommand command;
  if (const auto file = take_option(words, "-w")) command.file = *file;
  command.recover = take_option(words, "--recover");
  if (command.recover && !words.empty())
    throw std::invalid_argument("capture: with --recover there is -w and nothing else; tshark -Y chooses among frames");
  const auto filter = take_option(words, "--filter");
  command.line = "capture";
  for (const std::string& word : words) {
    if (word.empty() || word.find_first_of(" \t\r\n") != std::string::npos)
      throw std::invalid_argument("capture: not an argument: '" + word + "'; a filter is behind --filter, in quotes");
    command.line += " " + word;
  }
  if (filter) command.line += " --program " + compile_filter(*filter);
  return command;
}

namespace {

void run_recovery(const std::string& from, const std::string& to) {
  std::signal(SIGPIPE, SIG_IGN);
  std::optional<Descriptor> file;
  bool read = true;
  const capture::Recovered recovered = capture::recover(from, [&](std::string_view bytes) {
    if (!file) file.emplace(opened(to));  // what cannot be read makes no file
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
  if (command.file == "-") static_cast<void>(opened(command.file));  // before anything runs in the program
  Connection connection(socket);
  catch_signals(connection.socket());
  connection.ask(command.line);
  const admin::Answer answer = admin::Answer::from_line(connection.first_line(timeout));
  if (!answer.ok) throw std::runtime_error(admin::printable(answer.value.get<std::string>(), true));
  const Descriptor file(opened(command.file));
  Blocks blocks;
  for (std::string bytes = connection.next(); !bytes.empty(); bytes = connection.next()) {
    const std::optional<std::string> whole = blocks.take(bytes);
    if (!whole) throw std::runtime_error("what the program sends is no capture");
    if (!write_all(file.get(), *whole)) return;  // who reads it is gone, and knows
  }
  tell(blocks.totals());
}

}  // namespace sluice::sluicectl
