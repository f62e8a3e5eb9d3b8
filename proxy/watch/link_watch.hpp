#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "dataplane/dpdk/interface_link.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::proxy {

/// What a port's link does, from looking at it once a second. Thread: the control thread.
class LinkWatch {
 public:
  struct Change {
    dpdk::Link before{};
    Duration lasted{};  ///< the state before; zero when it was the first look
  };
  /// Something when the link is another than at the last look. The first look tells only of one that is not up.
  std::optional<Change> look(dpdk::Link link, Instant now) {
    if (known_ && link == link_) return std::nullopt;
    const bool first = !known_;
    const Change change{link_, first ? Duration::zero() : now - since_};
    known_ = true;
    link_ = link;
    since_ = now;
    if (first && link == dpdk::Link::up) return std::nullopt;
    if (!first) ++changes_;
    return change;
  }
  [[nodiscard]] dpdk::Link link() const { return link_; }
  /// Since when it has been so; the first look's time at the start.
  [[nodiscard]] Instant since() const { return since_; }
  [[nodiscard]] std::uint64_t changes() const { return changes_; }

 private:
  bool known_ = false;
  dpdk::Link link_ = dpdk::Link::up;
  Instant since_{};
  std::uint64_t changes_ = 0;
};

}  // namespace sluice::proxy
