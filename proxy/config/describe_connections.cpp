// Declares the keys that determine how connections are treated: modes, interception (whether connections are split),
// policies, SMVS and the TCP endpoints. Other describe_*.cpp files declare the other keys, and describe(Config&) calls
// them all.
#include <array>

#include "proxy/config/config.hpp"
#include "proxy/config/describe_parts.hpp"
#include "proxy/config/laws.hpp"

namespace sluice::tcp {

using namespace std::chrono_literals;

void describe(config::Section& s, EndpointConfig& tcp) {
  static constexpr std::array congestion_algorithms = [] {
    std::array<config::Choice<CongestionAlgorithm>, congestion_table.size()> choices;
    for (std::size_t i = 0; i < choices.size(); ++i)
      choices[i] = {congestion_table[i].word, congestion_table[i].algorithm, congestion_table[i].text};
    return choices;
  }();
  s.choice("congestion", tcp.congestion, congestion_algorithms,
           "congestion control of legs that no rate controller limits");
  s.value("pacing", tcp.pacing, "pacing over the round trip, on legs that no rate controller limits");
  s.value("min_rto", tcp.min_rto, {1ms, 60s}, "shortest retransmission timeout (RFC 6298)");
  s.value("max_rto", tcp.max_rto, {1s, 10min}, "longest retransmission timeout");
  s.value("delayed_ack", tcp.delayed_ack, {0s, 500ms}, "longest delay of an ACK (RFC 1122: ≤ 0.5 s)");
  s.value("time_wait", tcp.time_wait, {0s, 4min}, "duration of TIME-WAIT");
  s.value("initial_window", tcp.initial_window_segments, {1, 100}, "initial congestion window in segments (RFC 6928)");
  s.value("max_retransmissions", tcp.max_retransmissions, {1, 100},
          "consecutive retransmissions after which a connection is reset");
  s.value("max_out_of_order", tcp.max_out_of_order, {16, 65'535},
          "out-of-order packets held per connection; beyond 4096 only as many as the advertised window needs");
  s.check(tcp.min_rto <= tcp.max_rto, "min_rto", "at most max_rto", config::Scalar<Duration>::format(tcp.min_rto));
}

}  // namespace sluice::tcp

namespace sluice::proxy {
namespace {

using config::Choice;
using config::Section;

constexpr std::array modes = [] {
  std::array<Choice<Mode>, mode_table.size()> choices;
  for (std::size_t i = 0; i < choices.size(); ++i)
    choices[i] = {mode_table[i].key, mode_table[i].mode, mode_table[i].text};
  return choices;
}();
constexpr Choice<Intercept> intercepts[] = {
    {"auto", Intercept::automatic, "`split` if the mode supports it, otherwise `regulate`"},
    {"split", Intercept::split, "terminates each connection and opens one TCP connection on each side"},
    {"regulate", Intercept::regulate,
     "keeps one end-to-end connection, rewrites windows and delays ACKs; needs a mode with a per-flow window "
     "controller, or smvs with smvs.law: acks"}};
constexpr Choice<ControllerLocation> controller_locations[] = {
    {"nodeb", ControllerLocation::nodeb, "the Node-B computes the allowance and reports it"},
    {"proxy", ControllerLocation::proxy, "the proxy computes the allowance from measurements that the Node-B reports"},
    {"acks", ControllerLocation::acks,
     "the proxy computes a window from the UE's ACKs; no reports are needed, but they correct it if they arrive"}};
constexpr Choice<WithoutReports> without_reports[] = {
    {"congestion-control", WithoutReports::congestion_control, "the ordinary congestion control of each connection"},
    {"acks", WithoutReports::acks, "the ACK-based controller"}};
constexpr Choice<CrossTraffic> cross_traffic_choices[] = {
    {"queue", CrossTraffic::queue,
     "packets wait in a fair queue of the UE (FQ-CoDel) while its window is used up; without reports, and without ACKs "
     "of a split or end-to-end connection of the UE, they are forwarded"},
    {"forward", CrossTraffic::forward, "packets are forwarded at once, and the controller counts them"}};

constexpr Choice<UploadWindows> upload_windows[] = {
    {"limited", UploadWindows::limited,
     "while the UE has downloads, the window advertised to it keeps the queue of its modem short, because ACKs of the "
     "downloads wait in that queue"},
    {"unlimited", UploadWindows::unlimited, "only the proxy's memory limits the window"}};
constexpr Choice<UplinkAnswers> uplink_answers[] = {
    {"count", UplinkAnswers::count,
     "each short datagram from the UE counts as an acknowledgement of a fixed number of datagrams, if the numbers "
     "agree"},
    {"ignore", UplinkAnswers::ignore, "the download is forwarded at once"}};

constexpr Choice<Uplink> uplinks[] = {{"forward", Uplink::forward, "all packets are forwarded"},
                                      {"aqm", Uplink::aqm,
                                       "some packets of its largest uploads are dropped, or marked if they support "
                                       "ECN, until the wait is short (CoDel)"}};

/// Group of `smvs` keys that have an effect only with certain values of other keys. used() returns true if the settings
/// have such values; otherwise the keys of the group are refused.
struct KeysInUse {
  bool (*used)(const SmvsSettings&);
  /// condition in words, such as "smvs.law or smvs.without_reports is acks"; the error about a refused key contains it
  std::string_view condition;
};
constexpr KeysInUse parameter_keys{[](const SmvsSettings& smvs) { return smvs.law != ControllerLocation::nodeb; },
                                   "smvs.law is proxy or acks (nodeb: in the Node-B's file)"};
constexpr KeysInUse ack_parameters{[](const SmvsSettings& smvs) {
                                     return smvs.law == ControllerLocation::acks ||
                                            smvs.without_reports == WithoutReports::acks;
                                   },
                                   "smvs.law or smvs.without_reports is acks"};

void describe_smvs(Section& s, SmvsSettings& smvs, bool at_both_ends) {
  const auto used = [&](const KeysInUse& keys) { return at_both_ends || keys.used(smvs); };
  const auto condition = [&](const KeysInUse& keys) { return at_both_ends ? std::string_view() : keys.condition; };
  s.choice("law", smvs.law, controller_locations, "location of the SMVS controller");
  s.section(
      "parameters",
      [&](Section& below) {
        control::describe(below, smvs.parameters, used(parameter_keys), condition(parameter_keys));
      },
      "parameters of the SMVS law");
  s.section("receive_window", smvs.receive_window, "second control loop, for the window advertised to the server");
  s.section("fallback", smvs.fallback, "when reports count as late");
  s.choice("without_reports", smvs.without_reports, without_reports, "controller while reports are late");
  s.when(used(ack_parameters), condition(ack_parameters),
         [&] { s.section("acks", smvs.acks, "the ACK-based controller"); });
  s.choice("cross_traffic", smvs.cross_traffic, cross_traffic_choices,
           "treatment of packets to a UE that belong to no controlled connection, such as QUIC, under the ACK-based "
           "controller");
  s.choice("uplink_answers", smvs.uplink_answers, uplink_answers,
           "input of the ACK-based controller for a download over QUIC or other UDP, if the UE has no reports and no "
           "active TCP connection; only with cross_traffic queue");
  s.choice("upload_windows", smvs.upload_windows, upload_windows,
           "treatment of split uploads of a UE under the ACK-based controller");
  s.choice("uplink", smvs.uplink, uplinks,
           "treatment of a UE's uploads, by TCP, QUIC or others, while the timestamps of its TCP ACKs show a long wait "
           "for its uplink; needs the ACK-based controller");
  s.value("short_flow", smvs.short_flow, {Bytes(0), Bytes(1 << 30)},
          "size up to which a flow is short. Short flows precede other flows of the bearer: report-based control "
          "serves them first, ACK-based control grants them four fifths of the window; 0B = no preference");
  s.value("short_flow_reference", smvs.short_flow_reference, {0, 1},
          "share of the queue reference that remains while a short flow is active beside a download; 1 = all of it");
}

}  // namespace

void check_interception(Section& s, const PolicySettings& settings) {
  const std::string mode(to_string(settings.mode));
  s.check(settings.intercept != Intercept::split || can_split(settings.mode), "intercept",
          "regulate or auto in mode " + mode, "split");
  const bool other_law = settings.mode == Mode::smvs && !settings.can_regulate();
  s.check(settings.intercept != Intercept::regulate || settings.can_regulate(), "intercept",
          "split or auto in mode " + mode + (other_law ? " if smvs.law is not acks" : ""), "regulate");
  s.check(settings.observed != Mode::observe && needs_feedback(settings.observed), "observed",
          "a mode whose controller uses reports or acknowledgements", std::string(to_string(settings.observed)));
}

namespace {

void describe_advice(Section& s, PolicySettings& settings) {
  constexpr Rate fastest = Rate::bits_per_second(200e9);
  s.value("scone_rate", settings.scone_rate, {Rate(), fastest},
          "rate that the senders of QUIC flows are advised at most: the rate signal of SCONE packets to UEs is lowered "
          "to it, at most four times per flow in 67 s, and not in modes bypass and observe; 0b/s = not set");
  config::Percentage share{settings.scone_link_share};
  s.value("scone_link_share", share, {{0}, {1}},
          "share of the long-term rate of the UE's link that the senders of QUIC flows are advised at most, if that "
          "rate is known by reports or by the ACK-based controller; scone_rate stays a limit; 0% = the link's rate has "
          "no influence");
  settings.scone_link_share = share.fraction;
}

}  // namespace

void describe_default_mode(Section& s, PolicySettings& settings) {
  s.choice("mode", settings.mode, modes, "TCP handling mode");
  s.choice("intercept", settings.intercept, intercepts, "interception: whether TCP connections are split");
  s.choice("observed", settings.observed, modes, "mode whose decisions are computed in mode observe");
  describe_advice(s, settings);
}

void describe(Section& s, Policy& policy) {
  PolicySettings& settings = policy.settings;
  s.list("ue", policy.ue, {0, 1024}, "prefixes of UEs; empty: every UE");
  s.list("server", policy.server, {0, 1024}, "prefixes of servers; empty: every server");
  s.list("ports", policy.ports, {0, 256}, "server ports; empty: every port");
  s.list("dscp", policy.dscp, {0, 64}, {0, 63},
         "DSCP values of the SYN, or of a flow's first datagram; empty: every value");
  s.choice("mode", settings.mode, modes, "TCP handling mode of these connections");
  s.choice("intercept", settings.intercept, intercepts, "interception of these connections");
  s.choice("observed", settings.observed, modes, "mode whose decisions are computed in mode observe");
  describe_advice(s, settings);
  s.section(
      "smvs", [&settings](Section& below) { describe_at_proxy(below, settings.smvs); },
      "smvs settings of these connections; defaults are those of the top level");
  control::describe_laws(s, settings.laws);
  check_interception(s, settings);
}

void describe(Section& s, SmvsSettings& smvs) {
  describe_smvs(s, smvs, true);
}

void describe_at_proxy(Section& s, SmvsSettings& smvs) {
  describe_smvs(s, smvs, false);
}

}  // namespace sluice::proxy
