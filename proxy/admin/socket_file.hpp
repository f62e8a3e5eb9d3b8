#pragma once

#include <sys/types.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <optional>
#include <string>

namespace sluice::admin {

/// Where a socket's file is to be, and who may connect besides the user who runs the program.
struct SocketPlace {
  std::string path;
  std::optional<std::string> group = std::nullopt;  ///< a name or a number
};

/// The file of a Unix socket that is bound and not yet listening. Whoever may open it may command the program: its mode
/// is 0600, or 0660 with a group, from the moment it exists; no symbolic link is followed to it, and a folder in which
/// anybody could put another in its place is refused.
class SocketFile {
 public:
  /// Makes the folder when it is missing (mode 0755, its parent must be there), removes a socket on which nobody
  /// answers, opens the acceptor and binds it. Throws std::runtime_error with the reason and what to do.
  SocketFile(boost::asio::io_context& context, SocketPlace place,
             boost::asio::local::stream_protocol::acceptor& acceptor);
  /// Removes the file if it is still ours.
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
  dev_t device_ = 0;  ///< of the file, to recognise it
  ino_t inode_ = 0;
};

}  // namespace sluice::admin
