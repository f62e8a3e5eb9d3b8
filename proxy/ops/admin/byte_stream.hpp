#pragma once

#include <cstddef>
#include <string>

namespace sluice::admin {

/// Stream of bytes that the server sends after the answer to a command, until the client or the server ends it. Thread:
/// that of the server's io_context.
class ByteStream {
 public:
  virtual ~ByteStream() = default;
  /// Appends available bytes to `out`, at most about `most`. Returns false if the stream has ended.
  virtual bool take(std::string& out, std::size_t most) = 0;
  /// Called when the client has ended the stream. The server still fetches the bytes that are available then by take().
  virtual void finish() = 0;
};

}  // namespace sluice::admin
