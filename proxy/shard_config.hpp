#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "control/fallback.hpp"
#include "control/receive_window_loop.hpp"
#include "control/smvs.hpp"
#include "dataplane/tcp/endpoint.hpp"
#include "dataplane/units/bytes.hpp"
#include "dataplane/units/ip_address.hpp"
#include "dataplane/units/time.hpp"
#include "proxy/side.hpp"

namespace sluice::proxy {

/// What is done with TCP connections: configuration name and text from one line.
#define SLUICE_PROXY_MODES(X)                                          \
  X(bypass, "bypass", "forward untouched")                             \
  X(i_tcp, "i-tcp", "split, ordinary congestion control on both legs") \
  X(smvs, "smvs", "split, the radio leg sends by the SMVS allowance of the bearer")

enum class Mode : std::uint8_t {
#define X(name, key, text) name,
  SLUICE_PROXY_MODES(X)
#undef X
};
[[nodiscard]] std::string_view to_string(Mode mode);

/// Where the SMVS law is computed.
enum class LawPlace : std::uint8_t {
  nodeb,  ///< the allowance comes in the report (the paper's way)
  proxy   ///< the report brings the measurements, the proxy computes
};

/// Bounds on what a shard holds. Taken at start; nothing grows beyond them.
struct ShardLimits {
  std::uint32_t max_flows = 65'536;  ///< 1 … 16 777 216
  std::uint32_t max_bearers = 16'384;
  /// Payload bytes that one direction of one connection may hold here: received and acknowledged, not yet acknowledged
  /// by the other side (the ack exposure), or promised as window.
  /// At least 64 KiB, which is what a SYN-ACK may promise in the host's own name.
  Bytes relay_buffer{1024 * 1024};
  /// Bytes acknowledged to one host and not yet by the other one: of one direction of a connection, and of all
  /// connections of a UE together. 0 acknowledges nothing before the other host has; not set: relay_buffer is all.
  std::optional<Bytes> exposure_per_flow;
  std::optional<Bytes> exposure_per_bearer;
  /// Share of the packet buffers in use from which windows shrink, and from which new connections go unsplit.
  double shrink_windows_at = 0.5;
  double refuse_flows_at = 0.75;
  /// … and from which connections that hold no packet go back to plain forwarding.
  double let_flows_go_at = 0.875;
};

/// How long things may last.
struct ShardTimeouts {
  Duration handshake = std::chrono::seconds(75);  ///< a SYN that leads nowhere is forgotten
  Duration idle = std::chrono::seconds(300);  ///< a silent connection with an empty relay goes back to plain forwarding
};

/// SMVS as the proxy applies it.
struct SmvsMode {
  LawPlace law = LawPlace::nodeb;
  control::SmvsParameters parameters;
  control::ReceiveWindowParameters receive_window;
  control::FallbackParameters fallback;
  /// Flows that have sent less than this are served before the others of their bearer; 0 = no preference.
  Bytes short_flow{};
};

/// Everything a shard is told at its start. Immutable while it runs.
struct ShardConfig {
  Mode mode = Mode::i_tcp;
  tcp::EndpointConfig tcp;
  ShardLimits limits;
  ShardTimeouts timeouts;
  SmvsMode smvs;
  std::vector<IpPrefix> ue_prefixes;  ///< empty: every source address on the radio port is a UE
  /// By the Side they come in at: take segments whose checksum a kernel left to an offload (veth, TAP). Costs one in
  /// 65536 of the damaged segments.
  std::array<bool, 2> accept_partial_checksums{};

  [[nodiscard]] bool accepts_partial_checksums(Side in) const {
    return accept_partial_checksums[static_cast<std::size_t>(in)];
  }
};

}  // namespace sluice::proxy
