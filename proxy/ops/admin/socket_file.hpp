#pragma once

#include <sys/types.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <optional>
#include <string>

namespace sluice::admin {

/// Path of a socket file, and the group that may connect besides the user who runs the program.
struct SocketPlace {
  std::string path;
  std::optional<std::string> group = std::nullopt;  ///< name or number of the group that may connect
};

/// Returns the number of a group that is given by name or number; nothing if this machine has no group of that name.
[[nodiscard]] std::optional<gid_t> group_of(const std::string& name);

/// File of a bound Unix socket that does not listen yet. A user who may open it can control the program, so its mode
/// is 0600, or 0660 with a group, from its creation. Symbolic links are not followed. A folder in which other users
/// could replace the file is refused.
class SocketFile {
 public:
  /// Creates a missing folder (mode 0755, the parent must exist), removes a socket without a listening program, opens
  /// the acceptor and binds it. Throws std::runtime_error with the reason and advice.
  SocketFile(boost::asio::io_context& context, SocketPlace place,
             boost::asio::local::stream_protocol::acceptor& acceptor);
  /// Removes the socket file unless another program has replaced it.
  ~SocketFile();
  SocketFile(const SocketFile&) = delete;
  SocketFile& operator=(const SocketFile&) = delete;

  [[nodiscard]] const std::string& path() const { return place_.path; }

 private:
  void make_folder() const;
  void clear_path(boost::asio::io_context& context) const;
  void bind(boost::asio::local::stream_protocol::acceptor& acceptor);
  void give_to_owners();
  [[noreturn]] void fail(const std::string& why) const;

  SocketPlace place_;
  dev_t device_ = 0;  ///< device number of the socket file, with which a replacement is detected
  ino_t inode_ = 0;
};

}  // namespace sluice::admin
