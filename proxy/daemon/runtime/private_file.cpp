#include "proxy/daemon/runtime/private_file.hpp"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <stdexcept>

namespace sluice::proxy {

void make_folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash != std::string::npos && slash != 0)
    mkdir(path.substr(0, slash).c_str(), S_IRWXU | S_IRGRP | S_IXGRP | S_IROTH | S_IXOTH);
}

void require_private(int descriptor) {
  struct stat status {};
  if (fstat(descriptor, &status) != 0) throw std::runtime_error(std::string("cannot be inspected: ") + strerror(errno));
  if (!S_ISREG(status.st_mode)) throw std::runtime_error("is no ordinary file");
  if (status.st_uid != geteuid()) throw std::runtime_error("belongs to another user");
  if ((status.st_mode & (S_IRWXG | S_IRWXO)) != 0)
    throw std::runtime_error("may be read or written by others; chmod 600 it, or remove it");
}

std::string boot_id() {
  std::string id;
  std::getline(std::ifstream("/proc/sys/kernel/random/boot_id") >> std::ws, id);
  return id;
}

}  // namespace sluice::proxy
