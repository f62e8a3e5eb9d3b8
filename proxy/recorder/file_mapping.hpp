#pragma once

#include <cstddef>

namespace sluice::capture {

/// Memory shared with a file, which nothing that happens to the file can turn into the end of the program. A store to a
/// page that another program has truncated away, or that the file system finds no room for, raises SIGBUS: the handler
/// puts ordinary memory in the place of the whole mapping, and the store is carried out there. From then on the file
/// gets nothing, see is_lost(). Where the kernel refuses that memory as well, the handler states so on standard error
/// and ends the program by SIGABRT, since the store can neither be carried out nor left out. Thread: made and destroyed
/// by one thread, which alone calls is_lost(); stored to by any, of which none may do so once the destructor begins.
class FileMapping {
 public:
  /// Mappings that a process may have at a time.
  static constexpr std::size_t most = 16;

  /// Maps the first `size` bytes of `descriptor`, which it borrows, to read and write. `populate`: makes every page
  /// present first. Throws std::runtime_error where it cannot be mapped, or there are `most` already.
  FileMapping(int descriptor, std::size_t size, bool populate);
  ~FileMapping();
  FileMapping(const FileMapping&) = delete;
  FileMapping& operator=(const FileMapping&) = delete;

  [[nodiscard]] std::byte* data() const { return data_; }
  [[nodiscard]] std::size_t size() const { return size_; }
  /// True if the file is shorter than the mapping, or a store to it has failed: what is stored does not outlive the
  /// process. Stays true. Puts ordinary memory in the place of the mapping, if the kernel grants it; otherwise the
  /// mapping stays as it is, and the next call or the next store that fails asks for the memory again.
  [[nodiscard]] bool is_lost() const;

 private:
  int descriptor_;
  std::size_t size_;
  std::byte* data_ = nullptr;
  std::size_t slot_ = most;  ///< of the table that the handler searches
};

}  // namespace sluice::capture
