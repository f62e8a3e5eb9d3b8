#pragma once

#include <cstdint>

#include "proxy/engine/end_to_end/end_to_end_flows.hpp"
#include "proxy/engine/flow_table/context.hpp"
#include "proxy/engine/relay/relay_buffer_quota.hpp"
#include "proxy/engine/relay/undelivered_ack_limit.hpp"
#include "proxy/engine/split/released.hpp"

namespace sluice::proxy {

/// Hands split connections back to their hosts, which then continue without the proxy. A handback begins with
/// request_release(). Afterwards the owner calls advance() whenever it processes the flow's events. The handback is
/// complete when the proxy holds no bytes of the connection. The connection is then tracked, so that it can be split
/// again. handback_point.hpp describes handbacks during a transfer. Thread: the shard's.
class Handback {
 public:
  /// Stores references to its arguments, which must outlive the object.
  Handback(const ShardContext& shard, EndToEndFlows& end_to_end, const RelayBufferQuota& buffer_quota,
           const UndeliveredAckLimit& ack_limit, const flow::HashKey& secret)
      : shard_(shard),
        end_to_end_(end_to_end),
        buffer_quota_(buffer_quota),
        ack_limit_(ack_limit),
        released_(shard.config.limits.max_flows, secret) {}

  /// Requests the release of the flow for `reason`: its handback to the hosts as soon as they cannot notice it.
  /// ReleaseReason::none cancels a request, unless the handback has begun or a policy requires it. Returns false if
  /// `reason` is scarce memory, but the flow holds bytes or is not split. Otherwise returns true, and the caller must
  /// schedule the flow, so that its legs are processed.
  [[nodiscard]] bool request_release(Flow& flow, ReleaseReason reason) const;
  /// Continues the handback of a flow to its hosts while the flow's pending events are processed. Starts the handback
  /// if nothing prevents it. Otherwise lowers the advertised windows, so that it can start later.
  void advance(Flow& flow, Instant now);
  /// True if the proxy holds no bytes of the connection. The flow can then be removed, and its hosts continue without
  /// the proxy.
  [[nodiscard]] static bool is_complete(const Flow& flow);
  /// Ends the proxy's part of a flow that is about to be removed, so that its hosts continue the connection. Adds the
  /// connection to released(), where it is tracked, unless it is closed or continues as an end-to-end connection
  /// (Flow::successor).
  void release(const Flow& flow, Instant now);

  /// Returns the table of released connections, that is, of connections that were handed back to their hosts.
  [[nodiscard]] Released& released() { return released_; }
  [[nodiscard]] const Released& released() const { return released_; }

 private:
  /// Starts the handback of a flow to its hosts, if nothing prevents it. Otherwise advertises no window beyond what the
  /// other host itself offers, so that the handback can start later.
  void begin_handback(Flow& flow, Instant now);

  const ShardContext& shard_;
  EndToEndFlows& end_to_end_;
  const RelayBufferQuota& buffer_quota_;
  const UndeliveredAckLimit& ack_limit_;
  Released released_;
};

}  // namespace sluice::proxy
