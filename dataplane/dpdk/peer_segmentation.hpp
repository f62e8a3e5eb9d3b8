#pragma once

#include <string>
#include <utility>

namespace sluice::dpdk {

/// Makes the host at the other end of a veth pair divide its data into frames of the MTU. By default this host leaves
/// segmentation to its device (TSO, GSO), but a veth does not segment. Segments of up to 64 KiB then arrive, which no
/// port can receive.
///
/// The kernel offers one way to make the peer of a veth segment its own packets: the veth must carry an XDP program.
/// Source: veth_fix_features() in drivers/net/veth.c, since 4.19. This class attaches a program that passes every
/// packet. The program is removed with this object or when the process ends; the peer's own settings then apply again.
class PeerSegmentation {
 public:
  PeerSegmentation() = default;
  ~PeerSegmentation();
  PeerSegmentation(PeerSegmentation&& other) noexcept : link_(std::exchange(other.link_, -1)) {}
  PeerSegmentation& operator=(PeerSegmentation&& other) noexcept {
    std::swap(link_, other.link_);
    return *this;
  }

  /// Attaches the program to the interface. Throws std::runtime_error with the kernel's reason if the kernel refuses.
  /// If a program is attached already, it has the same effect, and no error is reported. Needs CAP_BPF (or
  /// CAP_SYS_ADMIN), CAP_NET_ADMIN and Linux 5.9.
  explicit PeerSegmentation(const std::string& interface);

 private:
  int link_ = -1;  ///< file descriptor of the BPF link; closing it detaches the program
};

}  // namespace sluice::dpdk
