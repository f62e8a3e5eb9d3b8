// Queue and thread behind the log. A thread that logs takes a mutex, appends its line and returns; the mutex is never
// held during a system call that can block. The writing thread shares ownership of all objects that it uses, so that
// the program can end while a write() blocks.
#include "proxy/daemon/service/log_writer.hpp"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

namespace sluice::proxy {
namespace {

/// Maximum time for which the destructor waits for the thread that writes the lines.
constexpr auto longest_end = std::chrono::seconds(1);
/// Interval in ms at which a blocked write checks whether the log was reopened. A write is blocked while the descriptor
/// accepts no data.
constexpr int look_period_ms = 200;

}  // namespace

/// Descriptor to which log lines are written. The destructor closes it.
class LogWriter::Target {
 public:
  explicit Target(int descriptor) : descriptor_(descriptor) {}
  ~Target() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  Target(const Target&) = delete;
  Target& operator=(const Target&) = delete;

  /// Opens the log file with O_NONBLOCK, so that neither open() nor write() blocks if the file is a FIFO without a
  /// reader. The flag affects no other process, because the open file description is not shared.
  static std::shared_ptr<Target> open_file(const std::string& path) {
    const int descriptor = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_NONBLOCK | O_CLOEXEC,
                                  S_IRUSR | S_IWUSR | S_IRGRP | S_IWGRP | S_IROTH | S_IWOTH);
    if (descriptor < 0) throw std::system_error(errno, std::generic_category(), path);
    return std::make_shared<Target>(descriptor);
  }

  /// Returns a target that sends to the datagram socket of a syslog daemon. The socket is connected when the first line
  /// is written.
  static std::shared_ptr<Target> syslog(const std::string& socket) {
    auto target = std::make_shared<Target>(-1);
    target->syslog_ = socket;
    return target;
  }

  /// Writes all of `line`. While the descriptor accepts no data, calls is_replaced(), which returns true if the lines
  /// must now go to another descriptor, because the log was reopened. Returns false in that case, or if writing fails.
  template <typename IsReplaced>
  bool write(std::string_view line, const IsReplaced& is_replaced) {
    // An incomplete line, such as one that did not fit on the disk, is ended first.
    if (std::exchange(has_part_, false) && !write_all("\n", is_replaced)) {
      has_part_ = true;
      return false;
    }
    return write_all(line, is_replaced);
  }

 private:
  template <typename IsReplaced>
  bool write_all(std::string_view rest, const IsReplaced& is_replaced) {
    const std::size_t whole = rest.size();
    bool may_connect = !syslog_.empty();
    while (!rest.empty()) {
      const ssize_t count = ::write(descriptor_, rest.data(), rest.size());
      if (count > 0) {
        rest.remove_prefix(static_cast<std::size_t>(count));
      } else if (count < 0 && errno == EINTR) {
        continue;
      } else if (count < 0 && errno == EAGAIN && !is_replaced()) {
        pollfd room{descriptor_, POLLOUT, 0};
        poll(&room, 1, look_period_ms);
      } else if (std::exchange(may_connect, false) && connect_to_syslog()) {
        continue;
      } else {
        has_part_ = rest.size() < whole;
        return false;
      }
    }
    return true;
  }

  /// Connects a new socket to the syslog daemon; returns false on failure. The socket does not block, because the
  /// daemon may be stopped.
  bool connect_to_syslog() {
    sockaddr_un address{};
    if (syslog_.size() >= sizeof address.sun_path) return false;
    address.sun_family = AF_UNIX;
    syslog_.copy(address.sun_path, syslog_.size());
    if (descriptor_ >= 0) close(descriptor_);
    descriptor_ = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    return descriptor_ >= 0 && connect(descriptor_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  }

  int descriptor_;
  std::string syslog_;     ///< path of the syslog daemon's socket; empty for other targets
  bool has_part_ = false;  ///< true if only a part of the last line was written
};

struct LogWriter::Shared {
  struct Line {
    std::shared_ptr<Target> target;
    std::string text;
    std::uint64_t lines_lost = 0;  ///< number of lost lines that this line reports; 0 for ordinary log lines
  };

  explicit Shared(std::shared_ptr<Target> first, LossLine loss)
      : target(std::move(first)), loss_line(std::move(loss)) {}

  void push(std::string_view text);
  void run();
  /// Queues a line that reports how many lines were lost since the last such report. The caller must hold the mutex.
  void push_loss();

  std::mutex mutex;
  std::condition_variable changed;
  std::shared_ptr<Target> target;
  LossLine loss_line;
  std::deque<Line> waiting;
  std::size_t waiting_bytes = 0;
  std::uint64_t unstated = 0;  ///< number of lost lines that no queued line has reported yet
  std::atomic<std::uint64_t> lost = 0;
  bool is_ending = false;
  bool has_ended = false;
  std::thread thread;
};

void LogWriter::Shared::push_loss() {
  std::string text = loss_line(unstated);
  waiting_bytes += text.size();
  waiting.push_back({target, std::move(text), std::exchange(unstated, 0)});
}

void LogWriter::Shared::push(std::string_view text) {
  const std::lock_guard lock(mutex);
  if (waiting_bytes + text.size() > max_waiting) {
    ++unstated;
    lost.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  if (unstated > 0) push_loss();
  waiting_bytes += text.size();
  waiting.push_back({target, std::string(text)});
  changed.notify_all();
}

void LogWriter::Shared::run() {
  std::unique_lock lock(mutex);
  bool is_writable = true;
  while (true) {
    if (waiting.empty() && unstated > 0 && is_writable) push_loss();
    if (waiting.empty() && is_ending) break;
    if (waiting.empty()) {
      changed.wait(lock);
      continue;
    }
    Line line = std::move(waiting.front());
    waiting.pop_front();
    lock.unlock();
    const auto is_replaced = [&] {
      const std::lock_guard look(mutex);
      return line.target != target;
    };
    is_writable = line.target->write(line.text, is_replaced);
    lock.lock();
    // The bytes are released only after the write, so that a line that blocks still counts.
    waiting_bytes -= line.text.size();
    if (is_writable) continue;
    unstated += line.lines_lost;
    if (line.lines_lost > 0) continue;
    ++unstated;
    lost.fetch_add(1, std::memory_order_relaxed);
  }
  has_ended = true;
  changed.notify_all();
}

LogWriter::LogWriter(int descriptor, LossLine loss_line)
    : shared_(std::make_shared<Shared>(std::make_shared<Target>(fcntl(descriptor, F_DUPFD_CLOEXEC, 0)),
                                       std::move(loss_line))) {
  start();
}

LogWriter::LogWriter(const std::string& path, LossLine loss_line)
    : path_(path), shared_(std::make_shared<Shared>(Target::open_file(path), std::move(loss_line))) {
  start();
}

LogWriter::LogWriter(ToSyslog /*tag*/, const std::string& socket, LossLine loss_line)
    : shared_(std::make_shared<Shared>(Target::syslog(socket), std::move(loss_line))) {
  start();
}

/// Starts the thread that writes the lines. The thread blocks all signals, so that only other threads handle them.
void LogWriter::start() {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  shared_->thread = std::thread([shared = shared_] { shared->run(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

LogWriter::~LogWriter() {
  std::unique_lock lock(shared_->mutex);
  shared_->is_ending = true;
  shared_->changed.notify_all();
  const bool has_ended = shared_->changed.wait_for(lock, longest_end, [this] { return shared_->has_ended; });
  if (!has_ended) {  // the thread ends after the line that it is writing
    shared_->waiting.clear();
    shared_->unstated = 0;
  }
  lock.unlock();
  if (has_ended)
    shared_->thread.join();
  else
    shared_->thread.detach();
}

void LogWriter::write(std::string_view line) {
  shared_->push(line);
}

void LogWriter::reopen() {
  if (path_.empty()) return;
  std::shared_ptr<Target> next = Target::open_file(path_);
  const std::lock_guard lock(shared_->mutex);
  shared_->target = std::move(next);
}

std::uint64_t LogWriter::lost() const {
  return shared_->lost.load(std::memory_order_relaxed);
}

}  // namespace sluice::proxy
