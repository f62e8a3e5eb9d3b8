#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace sluice::test {

/// A folder that goes away with this.
class TemporaryFolder {
 public:
  explicit TemporaryFolder(const std::filesystem::path& parent = std::filesystem::temp_directory_path());
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  /// Writes a file and returns its path.
  [[nodiscard]] std::string write(const std::string& name, const std::string& text) const;
  [[nodiscard]] std::string read(const std::string& name) const;

 private:
  std::filesystem::path path_;
};

/// A child process. What it prints goes to files in a folder of its own. Killed at the end if it still runs.
class Program {
 public:
  Program(const std::string& executable, const std::vector<std::string>& arguments);
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  void signal(int number) const;
  /// The exit code, −signal if one ended it; nothing when it still runs after a minute.
  [[nodiscard]] std::optional<int> wait();
  [[nodiscard]] bool running();
  [[nodiscard]] std::string out() const { return folder_.read("out"); }
  [[nodiscard]] std::string err() const { return folder_.read("err"); }

 private:
  TemporaryFolder folder_;
  pid_t pid_;
  std::optional<int> result_;
};

/// The outcome of a program that ends by itself.
struct Finished {
  int code = -1;
  std::string out;
  std::string err;
};
[[nodiscard]] Finished run(const std::string& executable, const std::vector<std::string>& arguments);

}  // namespace sluice::test
