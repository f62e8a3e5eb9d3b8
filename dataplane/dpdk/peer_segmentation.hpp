#pragma once

#include <string>
#include <utility>

namespace sluice::dpdk {

/// Makes the host at the other end of a veth pair put frames of its MTU on the wire. By default it leaves segmentation
/// to a device (TSO, GSO), a veth has none, and so segments of up to 64 KiB come in, which no port can take.
///
/// The kernel offers one way to stop that from our end: as long as a veth carries an XDP program, its peer segments for
/// itself (veth_fix_features() in drivers/net/veth.c, since 4.19). So this loads one that passes everything on. It is
/// gone with this object, and with the process however that ends; the peer's own settings are then in force again.
class PeerSegmentation {
 public:
  PeerSegmentation() = default;
  ~PeerSegmentation();
  PeerSegmentation(PeerSegmentation&& other) noexcept : link_(std::exchange(other.link_, -1)) {}
  PeerSegmentation& operator=(PeerSegmentation&& other) noexcept {
    std::swap(link_, other.link_);
    return *this;
  }

  /// Puts the program on the interface. Throws std::runtime_error with the kernel's reason where it refuses; a program
  /// of somebody else, which does the same, is none. Needs CAP_BPF (or CAP_SYS_ADMIN) and CAP_NET_ADMIN, and Linux 5.9.
  explicit PeerSegmentation(const std::string& interface);

 private:
  int link_ = -1;  ///< the kernel's hold on the program; closing it takes the program off
};

}  // namespace sluice::dpdk
