#pragma once

#include <string>
#include <utility>

namespace sluice::dpdk {

/// The right to serve a kernel interface, of which each network namespace has one for each interface. Two programs that
/// serve the same interface would both send every frame on. The claim is the name of a socket (unix(7), abstract), so
/// the kernel takes it back when the process ends, however that ends, and no file is left behind. Any process of the
/// namespace could bind that name: a claim keeps mistakes away, not an attacker on this machine.
class InterfaceClaim {
 public:
  InterfaceClaim() = default;
  ~InterfaceClaim();
  InterfaceClaim(InterfaceClaim&& other) noexcept : socket_(std::exchange(other.socket_, -1)) {}
  InterfaceClaim& operator=(InterfaceClaim&& other) noexcept {
    std::swap(socket_, other.socket_);
    return *this;
  }

  /// Claims the interface, by any of its names. Throws std::runtime_error where it is claimed already.
  explicit InterfaceClaim(const std::string& interface);

 private:
  int socket_ = -1;  ///< closing it gives the claim back
};

}  // namespace sluice::dpdk
