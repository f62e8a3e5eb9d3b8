#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "proxy/recorder/file_mapping.hpp"
#include "proxy/recorder/frame_ring.hpp"

namespace sluice::capture {

/// What is kept of the last frames, and where.
struct RingPlan {
  std::string path;
  std::uint64_t size = 0;         ///< bytes of all slots, at most
  std::uint32_t snap_length = 0;  ///< bytes of a frame at most
  bool payload = false;           ///< and not only of its headers
  std::uint32_t shards = 1;
  std::string program;                 ///< as the capture is to name it
  std::array<std::string, 2> devices;  ///< by Side
  std::int64_t to_wall = 0;            ///< RingHeader
};

/// The last frames of this run in a file that outlives it, mapped: a plain store is enough, and the kernel keeps what a
/// killed process has stored. All its room is taken at the start. Owned by this user, readable by nobody else, locked
/// while it is in use. Thread: the control thread's, but for the ring of each shard.
class RingFile {
 public:
  /// Begins a file of this run. One that an earlier run has left is kept beside it: see left(). Throws
  /// std::runtime_error saying why it cannot be; what an earlier run left is still there then.
  explicit RingFile(const RingPlan& plan);
  /// The file stays.
  ~RingFile();
  RingFile(const RingFile&) = delete;
  RingFile& operator=(const RingFile&) = delete;

  /// Where the last frames of an earlier run are that ended without a word; empty where none did. The next one to do so
  /// takes the place.
  [[nodiscard]] const std::string& left() const { return left_; }
  /// By shard. They hold no frame any more once it is gone: it outlives those who put frames in.
  [[nodiscard]] const std::vector<std::shared_ptr<FrameSink>>& rings() const { return rings_; }
  /// True if another program has truncated the file, or its file system has failed: it gets no more frames.
  [[nodiscard]] bool is_lost() const;
  /// This run has ended as it should. Nobody may use the rings any more.
  void remove();

 private:
  void keep_earlier();
  void begin(const RingPlan& plan);

  std::string path_;
  std::string left_;
  int descriptor_ = -1;  ///< holds the lock
  std::optional<FileMapping> mapping_;
  std::vector<std::shared_ptr<FrameSink>> rings_;
};

}  // namespace sluice::capture
