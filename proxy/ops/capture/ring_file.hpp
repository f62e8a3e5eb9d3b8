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

/// Location, size and contents of the file of last frames.
struct RingPlan {
  std::string path;
  std::uint64_t size = 0;         ///< maximum bytes of all slots together
  std::uint32_t snap_length = 0;  ///< maximum bytes that are kept of a frame
  bool payload = false;           ///< true to keep payload, false to keep headers only
  std::uint32_t shards = 1;
  std::string program;                 ///< program name that the recovered capture contains
  std::array<std::string, 2> devices;  ///< names of the ports' devices, indexed by Side
  std::int64_t to_wall = 0;  ///< offset between the shards' clock and wall-clock time, see RingHeader::to_wall
};

/// File of the last frames of this run, mapped so that a plain store is enough. The kernel keeps the data of a killed
/// process. All space is allocated at start. The file is readable by its owner only and locked while in use. Thread:
/// the control thread, except for the ring of each shard.
class RingFile {
 public:
  /// Creates the file of this run, and renames the file of an earlier run, see left(). Throws std::runtime_error with
  /// the reason; the earlier file then still exists.
  explicit RingFile(const RingPlan& plan);
  /// Closes the file and leaves it in place.
  ~RingFile();
  RingFile(const RingFile&) = delete;
  RingFile& operator=(const RingFile&) = delete;

  /// Returns the path of the last frames of a crashed earlier run, or an empty text. The next crashed run replaces
  /// that file.
  [[nodiscard]] const std::string& left() const { return left_; }
  /// Returns the ring of each shard, indexed by shard. The RingFile must outlive users of the rings, because its
  /// destructor unmaps their memory.
  [[nodiscard]] const std::vector<std::shared_ptr<FrameSink>>& rings() const { return rings_; }
  /// True if another program truncated the file or its file system failed, so that the file receives no more frames.
  [[nodiscard]] bool is_lost() const;
  /// Deletes the file after an orderly end of the run, unless another run has replaced it. The rings must no longer be
  /// in use.
  void remove();

 private:
  /// Renames the file of an earlier run, or removes it if that run ended before it wrote the header.
  void keep_earlier();
  /// Creates, allocates and maps the file of this run.
  void begin(const RingPlan& plan);

  std::string path_;
  std::string left_;
  int descriptor_ = -1;  ///< descriptor of the open file, which keeps the file locked
  std::optional<FileMapping> mapping_;
  std::vector<std::shared_ptr<FrameSink>> rings_;
};

}  // namespace sluice::capture
