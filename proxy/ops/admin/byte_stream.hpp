#pragma once

#include <cstddef>
#include <string>

namespace sluice::admin {

/// Stream of bytes that the server sends after the answer to a command, until the client or the server ends it. Thread:
/// that of the server's io_context.
class ByteStream {
 public:
  virtual ~ByteStream() = default;
  /// Appends about `most` available bytes to `out`, none if none are available. Units such as frames are appended
  /// whole, so `out` may get more. Returns false if the stream has ended.
  virtual bool take(std::string& out, std::size_t most) = 0;
  /// Called when the client has ended the stream. Afterwards the server calls take() until it returns false, to send
  /// the remaining bytes.
  virtual void finish() = 0;
};

}  // namespace sluice::admin
