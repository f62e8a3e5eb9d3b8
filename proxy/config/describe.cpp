// Declares every key of the proxy's configuration, with range, default, help text and the rules across keys. Keys of
// one subject are in a file of their own, describe_*.cpp. The reader, the printer and the reference visit these
// declarations (proxy/yaml). Invariant: a file that was accepted can be applied, apart from what the machine refuses at
// start.
#include <algorithm>
#include <cctype>
#include <string>

#include "dataplane/dpdk/device_arguments.hpp"
#include "proxy/config/config.hpp"
#include "proxy/config/describe_parts.hpp"
#include "proxy/config/laws.hpp"

namespace sluice::proxy {
namespace {

using config::Choice;
using config::Section;

constexpr Choice<FailOpen> fail_opens[] = {
    {"none", FailOpen::none,
     "frames are not forwarded between kernel interfaces; other devices behave as their driver does"},
    {"bridge", FailOpen::bridge,
     "a kernel bridge forwards every frame whenever the program does not run, however it ended; a watchdog ends a "
     "program that hangs for 3 s; needs CAP_NET_ADMIN and ports on kernel interfaces (net_af_packet, net_af_xdp)"}};

/// Checks that both ports are kernel interfaces if fail_open is bridge, because a kernel bridge can join no others.
/// Also checks the characters in their names.
void check_fail_open(Section& s, const Config& config) {
  if (config.fail_open == FailOpen::none) return;
  for (const PortSettings* port : {&config.ports.radio, &config.ports.core}) {
    s.check(dpdk::driver_traits(port->device).kernel_interface, "fail_open",
            "none if a port is not on a kernel interface (net_af_packet, net_af_xdp)", port->device);
    const std::string interface = dpdk::device_argument(port->device, "iface").value_or("");
    const bool plain = std::all_of(interface.begin(), interface.end(), [](unsigned char c) {
      return std::isalnum(c) != 0 || c == '.' || c == '-' || c == '_' || c == '@';
    });
    s.check(plain, "fail_open", "interfaces whose names are letters, digits and .-_@", interface);
  }
}

/// Checks that a section `feedback` exists if some mode needs reports of Node-Bs.
void check_feedback(Section& s, const Config& config) {
  s.check(!config.shard.needs_reports() || config.feedback, "mode",
          "a feedback section together with mode " + std::string(to_string(config.shard.mode)), "none");
  s.check(!config.policies_need_reports() || config.feedback, "policies",
          "a feedback section together with a mode that uses reports", "none");
}

/// Checks that metrics.listen is configured and reachable if a live page is configured, because the HTTP server for
/// metrics serves the page.
void check_page(Section& s, const Config& config) {
  if (!config.page) return;
  s.check(config.metrics.listen.has_value(), "metrics.listen", "an address if there is a page", "none");
  if (config.metrics.listen) config::check_reach(s, *config.page, *config.metrics.listen, "metrics.listen");
}

/// Declares the keys for the end of the program: `stop`, `state` and `last_frames`.
void describe_ends(Section& s, Config& config) {
  s.section("stop", config.stop, "shutdown");
  s.section("state", config.state, "record of split connections that survives a crash");
  s.section("last_frames", config.last_frames, "record of the last frames that survives a crash");
}

}  // namespace

void describe(Section& s, Config& config) {
  s.live([&] { describe_default_mode(s, config.shard); });
  s.section("eal", config.eal, "DPDK's environment");
  s.required().section("ports", config.ports, "the two ports of the bump in the wire");
  s.choice("fail_open", config.fail_open, fail_opens, "forwarding of frames while the program does not run");
  s.section("shards", config.shards, "the poll threads");
  s.section(
      "pool",
      [&config](Section& pool) {
        pool.value("buffers", config.pool.buffers, {1024, 16'777'216}, "packet buffers of 2 KiB for the whole program");
      },
      "packet buffers, allocated at start");
  s.section("limits", config.shard.limits, "limits of each shard");
  s.section("timeouts", config.shard.timeouts, "timeouts of connections");
  s.live([&] {
    s.section("tcp", config.shard.tcp, "the endpoints of split connections");
    s.section(
        "smvs", [&config](Section& below) { describe_at_proxy(below, config.shard.smvs); },
        "sliding-mode control (SMVS); one_way_delay, receive_window and fallback apply to every mode that uses "
        "reports");
    control::describe_laws(s, config.shard.laws);
  });
  s.section("feedback", config.feedback,
            "UDP protocol with the Node-B; needed by modes with a per-flow window controller, and by smvs unless "
            "smvs.law is acks");
  s.section("logging", config.logging, "log output");
  s.section("admin", config.admin, "admin socket");
  s.section("metrics", config.metrics, "metrics for monitoring systems");
  s.section("page", config.page, "live page at `/` of metrics.listen; not set: no page");
  s.section("ipfix", config.ipfix, "export of ended connections as IPFIX over UDP (RFC 7011); not set: no export");
  describe_ends(s, config);
  s.section("confine", config.confine, "restrictions of the running process");
  s.list("shared_queues", config.shard.shared_queues, {0, 64},
         "prefixes of UEs behind one shared queue, such as that of an access point; their connections share a bearer");
  s.list("ue_prefixes", config.shard.ue_prefixes, {0, 1024},
         "prefixes of UEs; empty: every source address on the radio port");
  s.value("clamp_mss", config.shard.clamp_mss,
          "in all modes, the MSS that SYNs announce is lowered to what both ports carry, for ports with a smaller MTU "
          "than the hosts");
  Policy prototype;
  const PolicySettings& by_default = config.shard;
  prototype.settings = by_default;
  config::Percentage control_group{config.shard.control_group};
  s.live([&] {
    s.sections("policies", config.shard.policies, {0, 64}, prototype,
               "settings for selected connections; the first matching policy applies, and the keys above apply to all "
               "other connections");
    s.value("control_group", control_group, {{0}, {1}}, "share of the UEs that keep ordinary TCP as a control group");
  });
  config.shard.control_group = control_group.fraction;
  check_page(s, config);
  check_fail_open(s, config);
  check_memory(s, config);
  check_interception(s, config.shard);
  check_feedback(s, config);
  config.shard.accept_partial_checksums = accepted_partial_checksums(config.ports);
}

}  // namespace sluice::proxy
