#pragma once

#include <cstddef>
#include <string>

namespace sluice::capture {

/// Memory mapped from a file such that truncation of the file cannot end the program. A store to a page that was
/// truncated away, or for which the file system has no space, raises SIGBUS. The handler replaces the whole mapping by
/// anonymous memory, and the store is repeated there. From then on stores no longer reach the file, see is_lost(). If
/// the kernel refuses that memory too, the handler reports it on standard error and ends the program by SIGABRT.
/// Thread: one thread creates and destroys it and calls is_lost(). Any thread may store to it until the destructor
/// begins.
class FileMapping {
 public:
  /// Maximum number of mappings that a process can have at a time.
  static constexpr std::size_t most = 16;

  /// Maps the first `size` bytes of `descriptor`, which it borrows, for reading and writing. `populate` loads every
  /// page first. Throws std::runtime_error if the file cannot be mapped or `most` mappings exist.
  FileMapping(int descriptor, std::size_t size, bool populate);
  ~FileMapping();
  FileMapping(const FileMapping&) = delete;
  FileMapping& operator=(const FileMapping&) = delete;

  [[nodiscard]] std::byte* data() const { return data_; }
  [[nodiscard]] std::size_t size() const { return size_; }
  /// True if the file is shorter than the mapping or a store to it has failed. The data is then lost when the process
  /// ends. Once true, the result stays true. Replaces the mapping by anonymous memory. If the kernel grants none, the
  /// mapping stays unchanged until the next call or failing store tries again.
  [[nodiscard]] bool is_lost() const;

 private:
  int descriptor_;
  std::size_t size_;
  std::byte* data_ = nullptr;
  std::size_t slot_ = most;  ///< index of the mapping in the table that the handler searches
};

/// Deletes the file at `path` if it is the file that `descriptor` has open. A file that another program has created
/// under that name stays.
void unlink_own(const std::string& path, int descriptor);

}  // namespace sluice::capture
