#pragma once

#include <cstddef>
#include <string>

namespace sluice::admin {

/// Stream of bytes that follows the answer to a command on its connection, until either side ends it. Thread: that of
/// the server's io_context.
class ByteStream {
 public:
  virtual ~ByteStream() = default;
  /// Appends the available bytes, about `most` at most. Returns false at the end of the stream.
  virtual bool take(std::string& out, std::size_t most) = 0;
  /// Called when the client ends the stream; bytes that are available then are still fetched by take().
  virtual void finish() = 0;
};

}  // namespace sluice::admin
