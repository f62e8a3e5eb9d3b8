#pragma once

#include <cstdint>

#include "control/ack_based/upload_window.hpp"
#include "dataplane/flow/lazy_array.hpp"
#include "dataplane/flow/slab.hpp"
#include "proxy/engine/bearer/bearer.hpp"
#include "proxy/engine/flow_table/registry.hpp"

namespace sluice::proxy {

/// Limits the windows that the proxy advertises to UEs on split connections, so that uploads keep the queue of the UE's
/// modem short (control::UploadWindow). ACKs of downloads, calls and pings of the UE wait in that queue. The windows
/// are limited while the UE has downloads. Thread: the shard's.
class UploadLimits {
 public:
  /// Stores a reference to `registry`, which must outlive the object.
  UploadLimits(const Registry& registry, const ShardLimits& limits)
      : registry_(registry),
        uploads_(limits.max_flows),
        ues_(limits.max_flows),
        upload_of_(limits.max_flows),
        ue_of_(2 * limits.max_bearers) {}

  /// True if window() must be called for the flow: the ACK-based controller limits the UE, the policy does not forbid
  /// to limit uploads, and the UE's timestamps distinguish the waits of both directions.
  [[nodiscard]] static bool applies_to(const Flow& flow, const Bearer& bearer) {
    return bearer.rate_control().is_ack_based() && bearer.rate_control().is_rate_controlled() &&
           bearer.settings().smvs.upload_windows == UploadWindows::limited &&
           flow.leg(Side::radio).endpoint.uses_timestamps();
  }
  /// Returns how many bytes the UE may send beyond the received ones. While no limit is in force, that is as much as
  /// slow start can need. Must be called after all data that has arrived in order. Requires applies_to().
  [[nodiscard, gnu::noinline]] Bytes window(const Flow& flow, const Bearer& bearer, Instant now);
  /// Counts `bytes` > 0 of payload that have arrived from the UE. Returns true if the limits keep the queue of its
  /// modem short. The controller of the downloads then needs no smallest window (control::BusyLinkFloor).
  bool count(FlowId id, Bytes bytes, Instant now) {
    const std::uint32_t place = upload_of_[id];
    return place != 0 && count_limited(uploads_[place - 1], bytes, now);
  }
  /// Destroys the state of the flow's upload, if there is one, because the flow ends or gets another bearer.
  void forget(const Flow& flow);

 private:
  /// State that all uploads of a UE share. It exists while there is an Upload of the UE.
  struct UeUploads {
    control::UploadWindow window;
    std::uint32_t flows = 0;  ///< number of objects Upload of the UE

    // The uploads that share the window have sent something in this second or in the last one.
    std::int64_t second = 0;       ///< number of the present second
    std::uint32_t active = 0;      ///< number of uploads that have sent data in this second
    std::uint32_t was_active = 0;  ///< number of uploads that have sent data in the second before
    Instant download_at{};         ///< last time at which the UE had a download
  };
  /// State of one upload. It exists from the time when the upload has sent `limited_from` bytes.
  struct Upload {
    Upload(std::uint32_t of_ue, tcp::SeqNum next) : ue(of_ue), counted(next) {}
    std::uint32_t ue;                 ///< index of the state that all uploads of the UE share
    tcp::SeqNum counted;              ///< sequence number up to which the UE's data is counted in `round_trip`
    std::int64_t active_second = -1;  ///< newest second in which the upload has sent data
    control::UploadRoundTrip round_trip{};
  };

  /// Bytes of an upload from which on its window may be limited. A shorter one fills no modem's queue for long.
  static constexpr Bytes limited_from{16 * 1024};
  /// Window of an upload before that. It is about what a SYN, whose window is not scaled, can advertise.
  static constexpr Bytes first_window{65535};
  /// Time after the last download of the UE for which its uploads are limited. A download may pause between two objects
  /// of a page.
  static constexpr Duration limited_for = std::chrono::seconds(1);

  /// Creates the state of an upload, and that of its UE if there is none. Returns null if there is no space.
  [[nodiscard, gnu::cold, gnu::noinline]] Upload* make(const Flow& flow, Instant now);
  [[gnu::noinline]] bool count_limited(Upload& upload, Bytes bytes, Instant now);

  const Registry& registry_;
  flow::Slab<Upload> uploads_;
  flow::Slab<UeUploads> ues_;
  flow::LazyArray<std::uint32_t> upload_of_;  ///< for each flow, by its id: index in `uploads_` plus one; zero: none
  flow::LazyArray<std::uint32_t> ue_of_;      ///< for each bearer, by its id: index in `ues_` plus one; zero: none
};

}  // namespace sluice::proxy
