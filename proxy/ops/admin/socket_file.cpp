// Creates the file of the admin socket with safe permissions. Server calls it once at start. Invariant: at no moment
// can another user connect or replace the file: the mode is set before bind(), and ownership changes go through a
// handle.
#include "proxy/ops/admin/socket_file.hpp"

#include <fcntl.h>
#include <grp.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <boost/system/error_code.hpp>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <stdexcept>
#include <utility>

namespace sluice::admin {
namespace {

using boost::asio::local::stream_protocol;
using boost::system::error_code;

constexpr mode_t owner_only = S_IRUSR | S_IWUSR;
constexpr mode_t with_group = owner_only | S_IRGRP | S_IWGRP;

std::string reason() {
  return strerror(errno);
}

/// Handle that refers to a file without access to its contents (O_PATH). Symbolic links are not followed.
class Handle {
 public:
  explicit Handle(const std::string& path) : descriptor_(open(path.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC)) {}
  ~Handle() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  [[nodiscard]] int get() const { return descriptor_; }

 private:
  int descriptor_;
};

}  // namespace

std::optional<gid_t> group_of(const std::string& name) {
  gid_t number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (error == std::errc() && end == name.data() + name.size()) return number;
  std::array<char, 16'384> space{};
  group entry{};
  group* found = nullptr;
  if (getgrnam_r(name.c_str(), &entry, space.data(), space.size(), &found) != 0 || found == nullptr)
    return std::nullopt;
  return entry.gr_gid;
}

SocketFile::SocketFile(boost::asio::io_context& context, SocketPlace place, stream_protocol::acceptor& acceptor)
    : place_(std::move(place)) {
  if (path().empty() || path().size() >= 108) {
    throw std::runtime_error("the admin socket's path must have 1 to 107 characters: '" + path() + "'");
  }
  make_folder();
  clear_path(context);
  bind(acceptor);
}

SocketFile::~SocketFile() {
  struct stat status {};
  const bool ours = lstat(path().c_str(), &status) == 0 && status.st_dev == device_ && status.st_ino == inode_;
  if (ours) unlink(path().c_str());
}

void SocketFile::fail(const std::string& why) const {
  throw std::runtime_error("the admin socket " + path() + " cannot be opened: " + why);
}

void SocketFile::make_folder() const {
  std::string folder = std::filesystem::path(path()).parent_path().string();
  if (folder.empty()) folder = ".";
  if (mkdir(folder.c_str(), S_IRWXU | S_IRGRP | S_IXGRP | S_IROTH | S_IXOTH) != 0 && errno != EEXIST) {
    fail("its folder " + folder + " cannot be made: " + reason() + "; give admin.socket a path of your own");
  }
  struct stat status {};
  if (stat(folder.c_str(), &status) != 0) fail("its folder " + folder + ": " + reason());
  const bool anybody_replaces = (status.st_mode & S_IWOTH) != 0 && (status.st_mode & S_ISVTX) == 0;
  if (anybody_replaces) {
    fail("everybody may write to its folder " + folder +
         ", and put another socket in its place; chmod o-w it, or give admin.socket another path");
  }
}

void SocketFile::clear_path(boost::asio::io_context& context) const {
  struct stat status {};
  if (lstat(path().c_str(), &status) != 0) return;
  if (!S_ISSOCK(status.st_mode)) {
    throw std::runtime_error(path() + " exists and is not a socket; give admin.socket another path or remove the file");
  }
  stream_protocol::socket probe(context);
  error_code error;
  probe.connect(stream_protocol::endpoint(path()), error);
  if (!error) {
    throw std::runtime_error("another program answers on " + path() + "; stop it or give admin.socket another path");
  }
  if (error == boost::asio::error::connection_refused) unlink(path().c_str());
}

void SocketFile::bind(stream_protocol::acceptor& acceptor) {
  error_code error;
  acceptor.open(stream_protocol(), error);
  if (error) fail(error.message());
  // The file inherits the mode of the socket, so it is set before bind().
  if (fchmod(acceptor.native_handle(), owner_only) != 0) fail(reason());
  acceptor.bind(stream_protocol::endpoint(path()), error);
  if (error) fail(error.message() + "; is its folder writable? If not, give admin.socket a path of your own");
  try {
    give_to_owners();
  } catch (...) {
    unlink(path().c_str());
    throw;
  }
}

/// Sets the group and the mode of the socket file through a handle. The handle refers to the bound file, even if
/// another file has replaced it at its path.
void SocketFile::give_to_owners() {
  const Handle file(path());
  struct stat status {};
  if (file.get() < 0 || fstat(file.get(), &status) != 0) fail(reason());
  if (!S_ISSOCK(status.st_mode)) fail("another file replaced it");
  device_ = status.st_dev;
  inode_ = status.st_ino;
  if (place_.group) {
    const std::optional<gid_t> group = group_of(*place_.group);
    if (!group) fail("there is no group '" + *place_.group + "' (admin.group)");
    if (fchownat(file.get(), "", static_cast<uid_t>(-1), *group, AT_EMPTY_PATH) != 0) {
      fail("it cannot be given to group '" + *place_.group + "' (admin.group): " + reason());
    }
  }
  const std::string handle = "/proc/self/fd/" + std::to_string(file.get());
  if (chmod(handle.c_str(), place_.group ? with_group : owner_only) != 0) fail("its mode: " + reason());
}

}  // namespace sluice::admin
