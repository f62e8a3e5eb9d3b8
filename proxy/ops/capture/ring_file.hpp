#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "proxy/ops/capture/file_mapping.hpp"
#include "proxy/ops/capture/frame_ring.hpp"

namespace sluice::capture {

/// Path, size and contents of the file of last frames that RingFile creates.
struct RingPlan {
  std::string path;
  std::uint64_t size = 0;         ///< maximum size of all slots together, in bytes
  std::uint32_t snap_length = 0;  ///< maximum number of bytes stored of each frame
  bool payload = false;           ///< true to store headers and payload, false to store headers only
  std::uint32_t shards = 1;
  std::string program;                 ///< program name that the recovered capture contains
  std::array<std::string, 2> devices;  ///< names of the ports' devices, indexed by Side
  std::int64_t to_wall = 0;            ///< wall-clock time minus the time on the shards' clock, see RingHeader::to_wall
};

/// Memory-mapped file with the last frames of this run. Frames are written by plain stores, because the kernel keeps
/// the data of a mapped file when a process is killed. All space is allocated at start. Only its owner can read the
/// file, which is locked while in use. Thread: the control thread, but each shard writes its own ring.
class RingFile {
 public:
  /// Creates the file for this run. Renames the file of an earlier run that has crashed; see left(). Throws
  /// std::runtime_error with the reason; the earlier file then still exists, perhaps under its new name.
  explicit RingFile(const RingPlan& plan);
  /// Closes the file, which remains in the file system.
  ~RingFile();
  RingFile(const RingFile&) = delete;
  RingFile& operator=(const RingFile&) = delete;

  /// Returns the path of the file with the last frames of an earlier run that crashed, or an empty text. That file is
  /// replaced after the next crash.
  [[nodiscard]] const std::string& left() const { return left_; }
  /// Returns the rings of all shards, indexed by shard. This object must outlive all users of the rings, because its
  /// destructor unmaps their memory.
  [[nodiscard]] const std::vector<std::shared_ptr<FrameSink>>& rings() const { return rings_; }
  /// True if another program has truncated the file, or if its file system has failed. Later frames are then not
  /// written to the file.
  [[nodiscard]] bool is_lost() const;
  /// Deletes the file after an orderly end of the run, unless another run has replaced it. The rings must no longer be
  /// in use.
  void remove();

 private:
  /// Renames the file of an earlier run. Removes it instead if that run ended before it wrote the header.
  void keep_earlier();
  /// Creates the file of this run, allocates its space and maps it.
  void begin(const RingPlan& plan);

  std::string path_;
  std::string left_;
  int descriptor_ = -1;  ///< descriptor of the open file, which keeps the file locked
  std::optional<FileMapping> mapping_;
  std::vector<std::shared_ptr<FrameSink>> rings_;
};

}  // namespace sluice::capture
