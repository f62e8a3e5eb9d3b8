#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "dataplane/dpdk/interface_link.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::proxy {

/// Detects changes of a port's link state, which is sampled once a second. Thread: the control thread.
class LinkWatch {
 public:
  struct Change {
    dpdk::Link before{};
    Duration lasted{};  ///< duration of the state that the link just left; zero at the first sample
  };
  /// Takes a sample of the link state, and returns a change if it differs from the last sample. The first sample is a
  /// change only if the link is not up.
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
  /// Returns the time when the current link state began, or the time of the first sample.
  [[nodiscard]] Instant since() const { return since_; }
  [[nodiscard]] std::uint64_t changes() const { return changes_; }

 private:
  bool known_ = false;
  dpdk::Link link_ = dpdk::Link::up;
  Instant since_{};
  std::uint64_t changes_ = 0;
};

}  // namespace sluice::proxy
