#pragma once

#include <rte_eth_ring.h>
#include <rte_ring.h>

#include <stdexcept>
#include <string>

namespace sluice::dpdk::test {

/// Two net_ring devices joined back to back: what is sent on one arrives at the other.
class RingPair {
 public:
  /// The devices are called net_ring_<name>a and net_ring_<name>b.
  explicit RingPair(const std::string& name, unsigned size = 1024)
      : there_(ring(name + "-there", size)), back_(ring(name + "-back", size)), a_(name + "a"), b_(name + "b") {
    if (rte_eth_from_rings(a_.c_str(), &back_, 1, &there_, 1, 0) < 0 ||
        rte_eth_from_rings(b_.c_str(), &there_, 1, &back_, 1, 0) < 0) {
      throw std::runtime_error("no ring devices");
    }
  }
  ~RingPair() {
    for (const std::string& device : {a(), b()}) {
      std::uint16_t id = 0;
      if (rte_eth_dev_get_port_by_name(device.c_str(), &id) == 0) rte_dev_remove(device_of(id));
    }
    for (rte_ring* const each : {there_, back_}) {
      void* packet = nullptr;
      while (rte_ring_dequeue(each, &packet) == 0) rte_pktmbuf_free(static_cast<rte_mbuf*>(packet));
      rte_ring_free(each);
    }
  }
  RingPair(const RingPair&) = delete;
  RingPair& operator=(const RingPair&) = delete;

  [[nodiscard]] std::string a() const { return "net_ring_" + a_; }
  [[nodiscard]] std::string b() const { return "net_ring_" + b_; }

 private:
  static rte_ring* ring(const std::string& name, unsigned size) {
    rte_ring* const made = rte_ring_create(name.c_str(), size, SOCKET_ID_ANY, RING_F_SP_ENQ | RING_F_SC_DEQ);
    if (made == nullptr) throw std::runtime_error("no ring");
    return made;
  }
  static rte_device* device_of(std::uint16_t id) {
    rte_eth_dev_info information{};
    rte_eth_dev_info_get(id, &information);
    return information.device;
  }

  rte_ring* there_;
  rte_ring* back_;
  std::string a_, b_;
};

}  // namespace sluice::dpdk::test
