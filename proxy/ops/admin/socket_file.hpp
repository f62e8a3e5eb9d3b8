#pragma once

#include <sys/types.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <optional>
#include <string>

namespace sluice::admin {

/// Path of a socket file, and the group that may connect to the socket. The user who runs the program always may.
struct SocketPlace {
  std::string path;
  std::optional<std::string> group = std::nullopt;  ///< name or number of the group that may connect; none if not set
};

/// Returns the number of a group that is given by name or number. Returns nothing if this machine has no such group.
[[nodiscard]] std::optional<gid_t> group_of(const std::string& name);

/// File of a Unix socket that is bound and does not listen yet. A user who may open it can control the program, so its
/// mode is 0600 from the start, or 0660 with a group. Symbolic links are not followed. A folder in which other users
/// could replace the file is an error.
class SocketFile {
 public:
  /// Binds the acceptor to the socket file. Creates its folder if that is missing (mode 0755, the parent must exist).
  /// Removes an existing socket file if no program listens on it. Throws std::runtime_error with the reason and advice.
  SocketFile(boost::asio::io_context& context, SocketPlace place,
             boost::asio::local::stream_protocol::acceptor& acceptor);
  /// Removes the socket file, unless another program has replaced it by its own file.
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
  dev_t device_ = 0;  ///< device number of the socket file, by which a replacement of the file is detected
  ino_t inode_ = 0;
};

}  // namespace sluice::admin
