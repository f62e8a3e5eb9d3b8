#pragma once

#include <string>
#include <utility>

namespace sluice::dpdk {

/// Exclusive right to use a kernel interface as a port in its network namespace. If two programs used one interface,
/// both would forward every frame. The claim is the name of an abstract socket (unix(7)), so the kernel releases it
/// when the process ends, and no file remains. Any process of the namespace can bind that name. So a claim prevents
/// mistakes, but not attacks from this machine.
class InterfaceClaim {
 public:
  InterfaceClaim() = default;
  ~InterfaceClaim();
  InterfaceClaim(InterfaceClaim&& other) noexcept : socket_(std::exchange(other.socket_, -1)) {}
  InterfaceClaim& operator=(InterfaceClaim&& other) noexcept {
    std::swap(socket_, other.socket_);
    return *this;
  }

  /// Claims the interface, by any of its names. Throws std::runtime_error if it is claimed already.
  explicit InterfaceClaim(const std::string& interface);

 private:
  int socket_ = -1;  ///< abstract socket that is the claim; closing it releases the claim
};

}  // namespace sluice::dpdk
