#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "emulator/channel/channel.hpp"

namespace sluice::emulator {

/// Radio link of a UE along its path: channels of different cells, with gaps (coverage holes, handover interruptions)
/// in which the UE has no channel. The link depends on the TTI number alone, as every channel does.
class TimelineChannel final : public SteppedChannel {
 public:
  /// Creates a link on which the UE has the channel `first` from TTI 0 on.
  explicit TimelineChannel(std::unique_ptr<Channel> first);
  /// Begins a gap: from TTI `tti` on, the UE has no channel. Sections (channels and gaps) must be added in time order;
  /// a later call for the same TTI replaces the earlier one.
  void silence_from(std::uint64_t tti) { add(tti, none); }
  /// Ends a gap: from TTI `tti` on, the UE has the last added channel again.
  void resume_from(std::uint64_t tti) { add(tti, channels_.size() - 1); }
  /// Switches to `channel` from TTI `tti` on.
  void replace_from(std::uint64_t tti, std::unique_ptr<Channel> channel);

  [[nodiscard]] double error_rate(double snr_db, std::uint8_t cqi) const override;
  [[nodiscard]] std::uint64_t next_useful(std::uint64_t tti) override;

 protected:
  LinkGrant step(std::uint64_t tti) override;
  [[nodiscard]] RadioQuality quality_of(std::uint64_t tti) const override;

 private:
  /// Value of ChannelInterval::channel that stands for a gap, in which the UE has no channel.
  static constexpr std::size_t none = SIZE_MAX;
  /// A section of the timeline with one channel, or none.
  struct ChannelInterval {
    std::uint64_t from = 0;
    std::size_t channel = none;
  };
  void add(std::uint64_t tti, std::size_t channel);
  /// Returns the index in `intervals_` of the section (channel or gap) that contains `tti`. The search starts at the
  /// current section, so `tti` must not be before it.
  [[nodiscard]] std::size_t interval_at(std::uint64_t tti) const;

  std::vector<std::unique_ptr<Channel>> channels_;
  std::vector<ChannelInterval> intervals_;
  std::size_t current_ = 0;  ///< index of the section (channel or gap) that contains the latest TTI
};

}  // namespace sluice::emulator
