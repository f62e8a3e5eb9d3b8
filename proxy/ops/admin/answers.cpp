// Table of all values in the answers of sluicectl, with their types. `explain`, the generated reference of words and
// the JSON schema (`sluicectl --schema`) are made from it. Invariant: an answer with a value that has no row here is
// refused by the schema, which a test applies to every command.
#include "proxy/ops/admin/answers.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <string>
#include <utility>

namespace sluice::admin {
namespace {

using F = AnswerField;

constexpr std::array fields{
    F{"status", "version", "string", "release of the program"},
    F{"status", "mode", "string", "mode of connections that no policy matches"},
    F{"status", "uptime_s", "number", "time since the start"},
    F{"status", "shards", "integer", "number of poll threads"},
    F{"status", "shards_stalled", "integer", "poll threads that have published nothing for a second"},
    F{"status", "flows", "integer", "connections in the tables, handshakes included"},
    F{"status", "flows_released", "integer", "connections that were split, are forwarded now and can be split again"},
    F{"status", "bearers", "integer", "bearers: the connections of a UE under one policy"},
    F{"status", "draining", "boolean", "connections are handed back, and none is split"},
    F{"status", "traffic.controlled_bytes", "integer",
      "bytes of frames of connections, split or regulated, whose UE a rate controller limits"},
    F{"status", "traffic.split_bytes", "integer",
      "bytes of frames of split connections that congestion control alone limits"},
    F{"status", "traffic.passed_bytes", "integer", "bytes of frames that pass without control"},
    F{"status", "traffic.controlled_percent", "number?",
      "share of controlled_bytes in all bytes; null before the first"},
    F{"status", "packet_buffers.total", "integer", "packet buffers that exist"},
    F{"status", "packet_buffers.in_use", "integer", "packet buffers that hold a frame or its payload"},
    F{"status", "ports.*.device", "string", "DPDK name of the port's device"},
    F{"status", "ports.*.interface", "string?", "kernel interface of the port, if its device serves one"},
    F{"status", "ports.*.link", "string", "state of the port's link: up, down or absent"},
    F{"status", "fail_open", "string", "\"none\" if fail_open is none"},
    F{"status", "fail_open.bridge", "string", "bridge that carries the frames when the program ends"},
    F{"status", "fail_open.ready", "boolean", "the bridge would carry the frames if the program ended now"},
    F{"status", "fail_open.problem?", "string", "reason why the bridge is not ready"},
    F{"status", "last_run?.ended", "string", "how the last run ended, as a word; null if nothing is known"},
    F{"status", "last_run?.text", "string", "how the last run ended, as a sentence"},
    F{"status", "feedback?.source", "string", "source of the reports: the word of feedback.source"},
    F{"status", "feedback?.listen", "string", "address and port on which reports are received"},
    F{"status", "feedback?.destinations", "integer", "Node-Bs that receive answers"},
    F{"status", "feedback?.accepted", "integer", "datagrams accepted"},
    F{"status", "feedback?.refused", "integer", "datagrams refused, for any reason"},
    F{"status", "captures", "integer", "captures that run"},
    F{"status", "traces", "integer", "traces of decisions that run"},

    F{"counters", "", "integer", "value of the one counter that was asked for"},
    F{"counters", "*", "integer", "value of the counter with this name"},

    F{"explain", "[].word", "string", "word that is explained"},
    F{"explain", "[].kind", "string", "kind of the word, such as counter or phase"},
    F{"explain", "[].meaning", "string", "meaning of the word"},

    F{"bearers", "[].ue", "string", "address of the UE"},
    F{"bearers", "[].mode", "string", "mode of the bearer's policy"},
    F{"bearers", "[].policy", "integer", "index of the bearer's policy; the number of policies stands for the default"},
    F{"bearers", "[].control_group", "boolean", "the UE is in the control group, which no controller limits"},
    F{"bearers", "[].observed_decisions", "integer", "decisions of the observed controller in mode observe"},
    F{"bearers", "[].observed_decided_mean_bytes", "number", "mean window or allowance that the controller decided"},
    F{"bearers", "[].observed_actual_mean_bytes", "number", "mean bytes in flight or sent at these decisions"},
    F{"bearers", "[].observed_acks_to_wait", "integer", "ACKs that the controller would have withheld"},
    F{"bearers", "[].observed_decided_delay_mean_ms", "number?",
      "mean queueing delay that the decided windows aim at; null without a decision at which it was known"},
    F{"bearers", "[].observed_actual_delay_mean_ms", "number?",
      "mean queueing delay that round trips showed at these decisions"},
    F{"bearers", "[].observed_window_bytes", "integer?",
      "window that the observed ACK-based controller computes now; null if none is observed"},
    F{"bearers", "[].observed_delay_ms", "number?",
      "queueing delay that this window aims at; null while the link's rate is unknown"},
    F{"bearers", "[].flows", "integer", "connections of the bearer"},
    F{"bearers", "[].steered_by", "string",
      "what limits sending: \"feedback\" (reports of the Node-B), \"acknowledgements\" (of the UE) or \"congestion "
      "control\" (of each connection)"},
    F{"bearers", "[].allowance_bytes", "integer", "bytes that the last step of the controller granted"},
    F{"bearers", "[].cwnd_bytes", "integer", "sum of the congestion windows of the radio legs"},
    F{"bearers", "[].in_flight_bytes", "integer", "bytes sent to the UE and not acknowledged yet"},
    F{"bearers", "[].window_bytes", "integer?", "bytes that may be in flight now; null if nothing limits them here"},
    F{"bearers", "[].held_bytes", "integer", "bytes held for the UE: unsent, or sent and not acknowledged"},
    F{"bearers", "[].unsent_bytes", "integer", "bytes held for the UE and not sent yet"},
    F{"bearers", "[].waiting_flows", "integer", "connections that have data to send and no budget of the controller"},
    F{"bearers", "[].cross_traffic_waiting_bytes", "integer",
      "bytes of QUIC and other packets that no controlled connection sends, while they wait for the UE's window"},
    F{"bearers", "[].uplink_wait_ms", "number?",
      "wait of the newest ACK for the UE's uplink, by its timestamp; null: not measured within the last second"},
    F{"bearers", "[].uplink_signals", "integer",
      "packets from the UE that smvs.uplink dropped or marked in the present congestion, or would in mode observe"},
    F{"bearers", "[].injected_bytes", "integer", "IP bytes sent towards the radio since the bearer exists"},
    F{"bearers", "[].queue_source", "string?",
      "source of queue_bytes: \"reports\" or \"acknowledgements\"; null while the queue is unknown"},
    F{"bearers", "[].queue_bytes", "integer?", "bytes in the radio queue, by queue_source"},
    F{"bearers", "[].queue_delay_ms", "number?", "time in which the radio sends the queue at its mean rate"},
    F{"bearers", "[].radio_queue_bytes", "integer?",
      "bytes in the radio queue by the last report; null before the first"},
    F{"bearers", "[].report_age_ms", "number?", "age of the last report; null before the first"},
    F{"bearers", "[].queue_by_acks_bytes", "integer", "bytes in the radio queue as the UE's ACKs show them"},
    F{"bearers", "[].service_rate_bps", "integer?", "rate of the radio link by the last report; null before the first"},
    F{"bearers", "[].mean_rate_bps", "integer?", "mean rate of the radio link; null while it is unknown"},
    F{"bearers", "[].long_term_rate_bps", "integer?",
      "rate of the radio link while it was the bottleneck, mean over about 67 s, for scone_link_share; null: unknown"},
    F{"bearers", "[].predicted_error_bytes", "number", "error of the queue that SMVS predicts"},
    F{"bearers", "[].fallbacks", "integer", "times that reports were late and something else limited sending"},

    F{"flows", "[].ue", "string", "address and port of the UE"},
    F{"flows", "[].server", "string", "address and port of the server"},
    F{"flows", "[].phase", "string", "phase of the connection"},
    F{"flows", "[].reason", "string", "reason of its release, or of a reset by the proxy; empty for none"},
    F{"flows", "[].acks_held", "integer", "ACKs of the UE that are withheld now"},
    F{"flows", "[].radio_sent_bytes", "integer?", "IP bytes sent to the UE, retransmissions included; split ones only"},
    F{"flows", "[].blocked_by", "string",
      "reason that delays a handback, or \"end to end\" for a connection that waits to be split; empty for none"},
#define SLUICE_LEG(leg, host)                                                                                          \
  F{"flows", "[]." leg "_state", "string", "TCP state towards the " host ", as RFC 9293 names it"},                    \
      F{"flows", "[]." leg "_in_flight_bytes", "integer", "bytes sent to the " host " and not acknowledged yet"},      \
      F{"flows", "[]." leg "_cwnd_bytes", "integer", "congestion window towards the " host},                           \
      F{"flows", "[]." leg "_peer_window_bytes", "integer", "receive window that the " host " advertises"},            \
      F{"flows", "[]." leg "_srtt_ms", "number?", "smoothed round-trip time to the " host "; null before a sample"},   \
      F{"flows", "[]." leg "_rto_ms", "number?",                                                                       \
        "retransmission timeout towards the " host "; null before its first value"},                                   \
      F{"flows", "[]." leg "_held_bytes", "integer", "bytes acknowledged to the other host and not yet by the " host}, \
      F{"flows", "[]." leg "_retransmissions", "integer", "segments retransmitted to the " host}
    SLUICE_LEG("radio", "UE"),
    SLUICE_LEG("core", "server"),
#undef SLUICE_LEG

    F{"flows --passing", "[].ue", "string", "address of the UE, with its port if the protocol has ports"},
    F{"flows --passing", "[].server", "string", "address of the server, with its port if the protocol has ports"},
    F{"flows --passing", "[].protocol", "string", "IP protocol, with what the UDP port suggests"},
    F{"flows --passing", "[].passes_for", "string",
      "reason for which the newest sample of the flow passed: the name of a forward_* counter without that prefix"},
    F{"flows --passing", "[].bytes", "integer",
      "estimate of the bytes of the flow, too large by uncertain_bytes at most"},
    F{"flows --passing", "[].uncertain_bytes", "integer",
      "part of bytes that may belong to a flow that had this place in the table before"},
    F{"flows --passing", "[].rate_bps", "integer?", "mean rate between the first and the newest sample of the flow"},
    F{"flows --passing", "[].seen_for_s", "number", "time between the first and the newest sample of the flow"},
    F{"flows --passing", "[].last_seen_s", "number", "time since the newest sample of the flow"},

    F{"traffic", "[].handling", "string", "handling of the bytes, by the names of the keys of traffic in status"},
    F{"traffic", "[].reason", "string?",
      "reason of bytes that passed: the name of a forward_* counter without that prefix; else null"},
    F{"traffic", "[].bytes", "integer", "bytes of received frames since the start"},
    F{"traffic", "[].share_percent", "number", "share in the bytes of all frames that were not dropped"},

    F{"exposure", "samples", "integer", "samples of split connections"},
    F{"exposure", "p50_bytes", "integer", "median of the bytes acknowledged to one host and not yet by the other"},
    F{"exposure", "p90_bytes", "integer", "90th percentile of the samples"},
    F{"exposure", "p99_bytes", "integer", "99th percentile of the samples"},
    F{"exposure", "largest_bytes", "integer", "largest sample"},
    F{"exposure", "up_to_bytes?.*", "integer", "samples up to this number of bytes, above the bound before it"},

    F{"drain", "draining", "boolean", "connections are handed back, and none is split"},
    F{"drain", "still_split", "integer", "connections that are split or being handed back"},
    F{"drain", "blocked_by.*", "integer", "connections whose handback is delayed for this reason"},
    F{"drain", "broken_by_a_stop", "integer", "connections that would lose bytes if the program ended now"},

    F{"ports", "*.device", "string", "DPDK name of the port's device"},
    F{"ports", "*.interface", "string?", "kernel interface of the port, if its device serves one"},
    F{"ports", "*.link", "string", "state of the link: up, down or absent"},
    F{"ports", "*.link_since_s", "number", "time for which the link has had this state"},
    F{"ports", "*.link_changes", "integer", "times that the link went down or came up"},
    F{"ports", "*.receive_queues", "integer", "receive queues of the device"},
    F{"ports", "*.transmit_queues", "integer", "transmit queues of the device"},
    F{"ports", "*.spreads_by_ue_address", "boolean", "the device spreads frames over its queues by the UE's address"},
    F{"ports", "*.checks_checksums", "boolean", "the device checks checksums"},
    F{"ports", "*.partial_checksums", "string", "unfinished TCP checksums: accept or refuse"},
    F{"ports", "*.driver?.*", "integer", "statistic of the driver, under the driver's name for it"},

    F{"shards", "[].shard", "integer", "index of the poll thread"},
    F{"shards", "[].flows", "integer", "connections in its tables"},
    F{"shards", "[].flows_released", "integer", "connections that were split and are forwarded now"},
    F{"shards", "[].bearers", "integer", "bearers"},
    F{"shards", "[].received", "integer", "frames taken from the ports"},
    F{"shards", "[].optimised", "integer", "segments delivered to a split connection"},
    F{"shards", "[].forwarded", "integer", "frames forwarded untouched or with a rewritten window"},
    F{"shards", "[].dropped", "integer", "frames dropped"},
    F{"shards", "[].flows_split", "integer", "connections split since the start"},
    F{"shards", "[].reports", "integer", "reports of bearers received"},
    F{"shards", "[].handed_over", "integer", "frames passed to the shard of their UE"},
    F{"shards", "[].handed_over_dropped", "integer", "frames dropped because that shard fell behind"},
    F{"shards", "[].sleeps", "integer", "times that the thread slept"},
    F{"shards", "[].stalled_s", "number", "time for which the thread has published nothing, from 1 s on"},

    F{"config", "", "string", "active configuration, as YAML"},

    F{"mode", "", "string", "active mode, or that nothing has changed"},
    F{"mode", "changed.[].key", "string", "key that changed"},
    F{"mode", "changed.[].before", "string", "value before"},
    F{"mode", "changed.[].after", "string", "value from now on"},
    F{"mode", "note", "string", "what becomes of the connections that exist"},
    F{"mode", "taken_back_after?", "string", "time after which the change is undone if it is not confirmed"},

    F{"modes", "[].mode", "string", "name of the mode"},
    F{"modes", "[].allowed", "boolean", "the configuration allows a switch to it"},
    F{"modes", "[].text", "string", "what the mode does"},
    F{"modes", "[].why_not", "string?", "reason why the configuration does not allow it"},

    F{"confirm", "", "string", "what was done"},

    F{"groups", "[].group", "string", "optimised: UEs whose mode applies; control: UEs of the control group"},
    F{"groups", "[].reports", "integer", "reports of radio queues"},
    F{"groups", "[].queue_samples", "integer", "samples of radio queues, by reports or acknowledgements"},
    F{"groups", "[].transmitted_bytes", "integer", "bytes that left the radio queues"},
    F{"groups", "[].dropped_bytes", "integer", "bytes that the radio queues dropped, by reports"},
    F{"groups", "[].queue_mean_bytes", "number?", "mean length of the radio queues"},
    F{"groups", "[].queue_delay_samples", "integer", "samples for which the mean rate of the link is known"},
    F{"groups", "[].queue_delay_mean_ms", "number?", "mean delay in the radio queues, over these samples"},
    F{"groups", "[].observed_decisions", "integer", "decisions of the observed controllers in mode observe"},
    F{"groups", "[].observed_decided_mean_bytes", "number?", "mean window or allowance that they decided"},
    F{"groups", "[].observed_actual_mean_bytes", "number?", "mean bytes in flight or sent at these decisions"},
    F{"groups", "[].observed_decided_delay_mean_ms", "number?", "mean queueing delay that the decided windows aim at"},
    F{"groups", "[].observed_actual_delay_mean_ms", "number?",
      "mean queueing delay that round trips showed at these decisions"},
    F{"groups", "[].rtt_p50_ms", "number?", "median of the smoothed round-trip time to the UE"},
    F{"groups", "[].rtt_p95_ms", "number?", "95th percentile of the smoothed round-trip time to the UE"},
    F{"groups", "[].completion_p50_ms", "number?", "median of the time from the split to the last segment"},
    F{"groups", "[].completion_p95_ms", "number?", "95th percentile of the time from the split to the last segment"},

    F{"log-level", "level", "string", "lowest level of lines that are logged now"},
    F{"log-level", "configured", "string", "value of logging.level, which a reload restores"},

    F{"version", "", "string", "release of the program"},
    F{"stop", "", "string", "what was done"},

    F{"help", "[].command", "string", "command with its arguments"},
    F{"help", "[].meaning", "string", "what the command does"},

    F{"top", "mode", "string", "mode of connections that no policy matches"},
    F{"top", "bearers_total", "integer?", "bearers of the program"},
    F{"top", "flows_total", "integer?", "connections in the tables"},
    F{"top", "interval_s", "number", "time over which rates are computed"},
    F{"top", "traffic?.controlled", "number",
      "share of the bytes that a rate controller limits, in percent; traffic is null without bytes"},
    F{"top", "traffic?.split", "number",
      "share of the bytes of split connections that congestion control alone limits, in percent"},
    F{"top", "traffic?.passed", "number", "share of the bytes that pass without control, in percent"},
    F{"top", "bearers.[].ue", "string", "address of the UE"},
    F{"top", "bearers.[].mode", "string", "mode of the bearer's policy"},
    F{"top", "bearers.[].steered_by", "string", "what limits sending, as in bearers"},
    F{"top", "bearers.[].flows", "integer?", "connections of the bearer"},
    F{"top", "bearers.[].rate_bps", "integer?", "rate at which bytes are sent to the UE"},
    F{"top", "bearers.[].link_bps", "integer?", "mean rate of the radio link"},
    F{"top", "bearers.[].queue_bytes", "integer?", "bytes in the radio queue"},
    F{"top", "bearers.[].delay_ms", "number?", "time in which the radio sends the queue at its mean rate"},
    F{"top", "bearers.[].in_flight_bytes", "integer?", "bytes sent to the UE and not acknowledged yet"},
    F{"top", "bearers.[].held_bytes", "integer?", "bytes held for the UE"},
    F{"top", "flows.[].ue", "string", "address and port of the UE"},
    F{"top", "flows.[].server", "string", "address and port of the server"},
    F{"top", "flows.[].phase", "string", "phase of the connection"},
    F{"top", "flows.[].rate_bps", "integer?", "rate at which bytes are sent to the UE"},
    F{"top", "flows.[].queue_bytes", "integer", "bytes that wait in the proxy for the radio leg"},
    F{"top", "flows.[].delay_ms", "number?", "smoothed round-trip time to the UE"},
    F{"top", "flows.[].in_flight_bytes", "integer?", "bytes sent to the UE and not acknowledged yet"},
    F{"top", "flows.[].retransmissions", "integer?", "segments retransmitted to the UE"},
};

/// Pairs of commands whose answers have the same form. The values of the first command's answer are described only
/// under the second one.
constexpr std::array<std::pair<std::string_view, std::string_view>, 4> same_answers{
    {{"release", "drain"}, {"split-again", "drain"}, {"reload", "mode"}, {"revert", "confirm"}}};

/// Node in the tree of all values that an answer can contain. The JSON schema is generated from the tree.
struct Node {
  std::string_view type;  ///< JSON type of the value at this node; empty if the node is a list or an object
  std::string_view meaning;
  bool is_optional = false;
  /// child nodes by key; the key `[]` stands for each element of a list, `*` for any key of an object
  std::deque<std::pair<std::string, Node>> below;

  Node& at(std::string_view key) {
    const bool optional = key.ends_with('?');
    if (optional) key.remove_suffix(1);
    for (auto& [name, node] : below) {
      if (name == key) return node;
    }
    Node& added = below.emplace_back(std::string(key), Node{}).second;
    added.is_optional = optional;
    return added;
  }
};

Json scalar_schema(std::string_view type) {
  if (!type.ends_with('?')) return {{"type", type}};
  type.remove_suffix(1);
  return {{"type", {type, "null"}}};
}

Json schema_of(const Node& node);

/// Returns the JSON schema of a node that is a list or an object.
Json compound_schema(const Node& node) {
  if (node.below.front().first == "[]") return {{"type", "array"}, {"items", schema_of(node.below.front().second)}};
  if (node.below.front().first == "*")
    return {{"type", "object"}, {"additionalProperties", schema_of(node.below.front().second)}};
  Json properties = Json::object();
  Json required = Json::array();
  for (const auto& [key, below] : node.below) {
    properties[key] = schema_of(below);
    if (!below.is_optional) required.push_back(key);
  }
  return {{"type", "object"},
          {"properties", std::move(properties)},
          {"required", std::move(required)},
          {"additionalProperties", false}};
}

Json schema_of(const Node& node) {
  Json forms = Json::array();
  if (!node.type.empty()) forms.push_back(scalar_schema(node.type));
  if (!node.below.empty()) forms.push_back(compound_schema(node));
  // An optional part of an answer is either absent or null.
  if (node.is_optional && !node.below.empty()) forms.push_back({{"type", "null"}});
  Json schema = forms.size() == 1 ? forms.front() : Json{{"anyOf", forms}};
  if (!node.meaning.empty()) schema["description"] = node.meaning;
  return schema;
}

}  // namespace

std::span<const AnswerField> answer_fields() {
  return fields;
}

const AnswerField* answer_field(std::string_view command, std::string_view key) {
  const auto* const at = std::find_if(fields.begin(), fields.end(), [&](const AnswerField& field) {
    std::string_view path = field.path;
    if (path.ends_with('?')) path.remove_suffix(1);
    return field.command == command && path == key;
  });
  return at != fields.end() ? at : nullptr;
}

Json answer_schema() {
  Node root;
  for (const AnswerField& field : fields) {
    Node* node = &root.at(field.command);
    std::string_view rest = field.path;
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find('.'), rest.size());
      node = &node->at(rest.substr(0, end));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    node->type = field.type;
    node->meaning = field.meaning;
  }
  Json definitions = Json::object();
  for (const auto& [command, node] : root.below) definitions[command] = schema_of(node);
  for (const auto& [command, other] : same_answers)
    definitions[std::string(command)] = {{"$ref", "#/$defs/" + std::string(other)}};
  return {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
          {"title", "Answers of sluicectl --json, by command"},
          {"$defs", std::move(definitions)}};
}

}  // namespace sluice::admin
