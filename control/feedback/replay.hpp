#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <unordered_map>

#include "control/feedback/failure.hpp"

namespace sluice::control::feedback {

/// Which of the newest sequence numbers of one sender's epoch have been seen (the window of RFC 4303 section 3.4.3).
class ReplayWindow {
 public:
  static constexpr std::uint64_t size = 256;

  /// True, once, for each sequence number that is not older than the window. Zero is never a sequence number.
  bool take(std::uint64_t sequence);
  [[nodiscard]] std::uint64_t newest() const { return newest_; }

 private:
  static constexpr std::size_t words = size / 64;
  std::uint64_t newest_ = 0;
  std::array<std::uint64_t, words> seen_{};  ///< bit (sequence mod size)
};

/// The replay state of every sender that was heard, each with its newest epoch. Only authenticated datagrams may
/// reach it. Its size is bounded; a sender is never forgotten, for forgetting would let its past be replayed.
class ReplayGuard {
 public:
  explicit ReplayGuard(std::size_t max_senders) : max_senders_(max_senders) {}

  /// Failure::none when this datagram is new, else stale_epoch, replayed, too_many_senders or malformed_header (epoch
  /// or sequence zero). A greater epoch than the sender's newest replaces it: the sender has restarted.
  [[nodiscard]] Failure take(std::uint64_t sender, std::uint64_t epoch, std::uint64_t sequence);
  /// The newest epoch of a sender; 0 when it was never heard.
  [[nodiscard]] std::uint64_t newest_epoch(std::uint64_t sender) const;
  [[nodiscard]] std::size_t senders() const { return senders_.size(); }

 private:
  struct Sender {
    std::uint64_t epoch = 0;
    ReplayWindow window;
  };
  std::size_t max_senders_;
  std::unordered_map<std::uint64_t, Sender> senders_;
};

}  // namespace sluice::control::feedback
