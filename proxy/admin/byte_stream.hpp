#pragma once

#include <cstddef>
#include <string>

namespace sluice::admin {

/// What follows an answer on the same connection, until either side ends it. Thread: that of the server's io_context.
class ByteStream {
 public:
  virtual ~ByteStream() = default;
  /// Appends what there is by now, about `most` bytes at most. False when nothing will come after it.
  virtual bool take(std::string& out, std::size_t most) = 0;
  /// The client wants no more; what there is already is still taken.
  virtual void finish() = 0;
};

}  // namespace sluice::admin
