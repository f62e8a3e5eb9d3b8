#pragma once

#include <cstddef>
#include <string>

namespace sluice::capture {

/// Memory mapped from a file. If the file is truncated, the program continues. A store to a missing page, or to one for
/// which the file system has no space, raises SIGBUS. The signal handler then replaces the whole mapping by anonymous
/// memory, and the store is repeated. Later stores no longer reach the file; see is_lost(). If the kernel provides no
/// memory, the handler writes an error to standard error and ends the program by SIGABRT. Thread: one thread creates
/// and destroys the object and calls is_lost(). Any thread may store until the destructor begins.
class FileMapping {
 public:
  /// Maximum number of mappings in a process at one time.
  static constexpr std::size_t most = 16;

  /// Maps the first `size` bytes of the file `descriptor` for reading and writing; the caller keeps the descriptor. If
  /// `populate` is true, loads every page first. Throws std::runtime_error if the file cannot be mapped, or if the
  /// maximum number of mappings exists.
  FileMapping(int descriptor, std::size_t size, bool populate);
  ~FileMapping();
  FileMapping(const FileMapping&) = delete;
  FileMapping& operator=(const FileMapping&) = delete;

  [[nodiscard]] std::byte* data() const { return data_; }
  [[nodiscard]] std::size_t size() const { return size_; }
  /// True if the file is shorter than the mapping, or if a store to the file has failed. The data then ends with the
  /// program. Once true, the result stays true. When it becomes true, the mapping is replaced by anonymous memory. If
  /// the kernel provides none, the next call or failing store tries again.
  [[nodiscard]] bool is_lost() const;

 private:
  int descriptor_;
  std::size_t size_;
  std::byte* data_ = nullptr;
  std::size_t slot_ = most;  ///< index of the mapping's slot in the table that the SIGBUS handler searches
};

/// Deletes the file at `path` if it is the file that `descriptor` has open. A file that another program has created
/// under that name stays.
void unlink_own(const std::string& path, int descriptor);

}  // namespace sluice::capture
