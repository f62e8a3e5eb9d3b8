#pragma once

#include <chrono>
#include <string>
#include <string_view>

namespace sluice::sluicectl {

/// Closed when it goes, unless it is a standard stream.
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

/// A file to write what came from the program to, for its owner's eyes only: it has addresses, and maybe what
/// connections carry. "-": standard output. Throws std::runtime_error.
[[nodiscard]] int opened(const std::string& file);

/// False when the reader is gone. Throws std::runtime_error.
[[nodiscard]] bool write_all(int number, std::string_view bytes);

/// The program's end of the socket, where an answer goes on for as long as somebody reads it.
class Connection {
 public:
  /// Throws std::runtime_error when nobody answers there.
  explicit Connection(const std::string& path) : socket_(connected_to(path)) {}

  /// Asks for it. From now on a first SIGINT or SIGTERM has the program send what it has, and stop; a second one ends
  /// at once. Throws std::runtime_error when it refuses, with its reason, or says nothing in time.
  void begin(const std::string& line, std::chrono::milliseconds timeout);
  /// What has come; empty at the end.
  [[nodiscard]] std::string next();

 private:
  [[nodiscard]] static int connected_to(const std::string& path);
  [[nodiscard]] std::string first_line(std::chrono::milliseconds timeout);
  bool read_more();

  Descriptor socket_;
  std::string input_;
};

}  // namespace sluice::sluicectl
