#pragma once

#include <chrono>
#include <string>
#include <string_view>

namespace sluice::sluicectl {

/// Owns a file descriptor. The destructor closes the descriptor unless it is a standard stream.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor();
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  [[nodiscard]] int get() const { return number_; }

 private:
  int number_;
};

/// Opens a file for output and returns its descriptor. A new file has mode 0600, because captures contain addresses and
/// possibly payload. "-" stands for standard output. Throws std::runtime_error.
[[nodiscard]] int opened(const std::string& file);

/// Writes all bytes to the descriptor `number`. Returns false if the reader of the output has closed it. Throws
/// std::runtime_error on other errors.
[[nodiscard]] bool write_all(int number, std::string_view bytes);

/// Connection to a program's admin socket for a command whose answer is followed by a byte stream.
class Connection {
 public:
  /// Connects to the admin socket at `path`. Throws std::runtime_error if no program accepts the connection.
  explicit Connection(const std::string& path) : socket_(connected_to(path)) {}

  /// Sends the command `line` and waits for the answer, at most for `timeout`. Afterwards the first SIGINT or SIGTERM
  /// makes the program send the remaining bytes of the stream and end it. A second signal ends sluicectl. Throws
  /// std::runtime_error with the reason if the command fails or the program does not answer in time.
  void begin(const std::string& line, std::chrono::milliseconds timeout);
  /// Returns the next received bytes of the stream, or an empty text at its end.
  [[nodiscard]] std::string next();

 private:
  [[nodiscard]] static int connected_to(const std::string& path);
  [[nodiscard]] std::string first_line(std::chrono::milliseconds timeout);
  bool read_more();

  Descriptor socket_;
  std::string input_;
};

}  // namespace sluice::sluicectl
