// Plays scripts: README.md describes what each verb does.

#include "tests/conformance/run.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <functional>

#include "proxy/engine/shard/shard.hpp"
#include "tests/conformance/host.hpp"
#include "tests/conformance/match.hpp"

namespace sluice::conformance {
namespace {

using proxy::Side;

/// The conversation went otherwise than the script has it.
struct Deviation : std::runtime_error {
  using std::runtime_error::runtime_error;
};

proxy::ShardConfig config_of(const Script& script, const Circumstances& circumstances) {
  proxy::ShardConfig config;
  config.limits.max_flows = 64;
  config.limits.max_bearers = 8;
  config.mode = circumstances.mode == "split"    ? proxy::Mode::i_tcp
                : circumstances.mode == "bypass" ? proxy::Mode::bypass
                                                 : proxy::Mode::smvs;
  config.smvs.law = proxy::ControllerLocation::acks;
  if (circumstances.mode == "regulate") config.intercept = proxy::Intercept::regulate;
  if (!circumstances.exposed) config.limits.exposure_per_flow = Bytes(0);
  if (script.settings.count("partial") != 0) config.accept_partial_checksums = {true, true};
  return config;
}

class Play final : public proxy::Transmitter {
 public:
  Play(const Script& script, const Circumstances& circumstances, packet::PacketPool& pool)
      : script_(script),
        circumstances_(circumstances),
        pool_(pool),
        isns_(initial_numbers(script)),
        ue_("ue", true, isns_[0]),
        core_("core", false, isns_[1]),
        shard_(set_ports(config_of(script, circumstances)), pool, *this, {42, 43}, Instant{}) {}

  void line(const Line& line) {
    if (!is_meant(line, circumstances_)) return;
    std::vector<std::string> replaced;
    for (const std::string& word : line.words) replaced.push_back(replace(word));
    Words words(std::move(replaced));
    verb(words);
    words.expect_end();
    meet_requirements();
  }

  void end() {
    for (const Host* host : {&ue_, &core_}) {
      if (host->resets_of_others() != 0 && !resets_) throw Deviation("expected no reset, one came to " + host->name);
    }
    const proxy::Counters& counters = shard_.counters();
    const std::uint64_t known = counters[proxy::Counter::optimised] + counters.forwarded() + counters.dropped();
    if (counters.received() != known) {
      throw Deviation("expected " + std::to_string(counters.received()) +
                      " frames in the counters of what became of them, " + std::to_string(known) + " are there");
    }
    for (const auto& wrong : {ue_.wrong_octets(core_), core_.wrong_octets(ue_)}) {
      if (!wrong.empty()) throw Deviation(wrong);
    }
  }

  /// The frames that went before, newest last.
  [[nodiscard]] std::string transcript() const {
    std::string text;
    for (const std::string& entry : log_) text += "\n  " + entry;
    return text;
  }

  void transmit(Side out, std::span<packet::Packet> burst, Instant) override {
    for (packet::Packet& packet : burst) {
      came_.emplace_back(out, Octets(packet.data(), packet.data() + packet.size()));
      packet.reset();
    }
  }

 private:
  static std::array<std::uint32_t, 2> initial_numbers(const Script& script) {
    const auto words = script.setting("isn", {"1000", "5000"});
    if (words.size() != 2) throw ScriptError("isn needs the UE's and the core host's");
    return {number_of(words[0]), number_of(words[1])};
  }

  proxy::ShardConfig set_ports(proxy::ShardConfig config) {
    const auto words = script_.setting("ports", {"65535", "65535"});
    if (words.size() != 2) throw ScriptError("ports needs the MTUs towards the UE and the core");
    for (const Side side : {Side::radio, Side::core}) {
      Host& host = side == Side::radio ? ue_ : core_;
      host.mtu = number_of(replace(words[side == Side::radio ? 0 : 1]));
      config.ports[static_cast<std::size_t>(side)].mtu = static_cast<std::uint16_t>(host.mtu);
    }
    return config;
  }

  [[nodiscard]] std::string replace(std::string word) const {
    for (std::size_t at = 0; (at = word.find('$')) != std::string::npos;) {
      const auto begins = [&](const auto& entry) { return word.compare(at + 1, entry.first.size(), entry.first) == 0; };
      const auto& variables = circumstances_.variables;
      const auto found = std::find_if(variables.begin(), variables.end(), begins);
      if (found == variables.end()) throw ScriptError("nothing gives " + word + " a value");
      word.replace(at, found->first.size() + 1, found->second);
    }
    return word;
  }

  void verb(Words& words) {
    const std::string first = words.next();
    if (first.front() == '+') return pass_time(first);
    if (first == "ue" || first == "core") return host_verb(first == "ue" ? ue_ : core_, words);
    if (first == "open") return open(words);
    if (first == "close") return close();
    if (first == "count") return count(words);
    if (first == "forget") return forget();
    if (first == "resets") {
      resets_ = true;
      return;
    }
    throw ScriptError("expected a verb, got " + first);
  }

  void host_verb(Host& host, Words& words) {
    using Verb = std::function<void(Play&, Host&, Words&)>;
    static const std::map<std::string, Verb> verbs = {
        {">", [](Play& p, Host& h, Words& w) { p.send(h, read_segment(w)); }},
        {"<", [](Play& p, Host& h, Words& w) { p.expect(h, w, false); }},
        {"<*", [](Play& p, Host& h, Words& w) { p.expect(h, w, true); }},
        {"sends", [](Play& p, Host& h, Words& w) { p.send_stream(h, w); }},
        {"has", [](Play& p, Host& h, Words& w) { p.expect_number(h, "octets up to", h.next_expected(p.peer(h)), w); }},
        {"acked", [](Play& p, Host& h, Words& w) { p.expect_number(h, "the ACK", h.acked().value_or(0), w); }},
        {"window", [](Play&, Host& h, Words& w) { h.window = static_cast<std::uint16_t>(w.number(0xffff)); }},
        {"answers", [](Play& p, Host& h, Words&) { p.answer(h); }},
        {"rests", [](Play&, Host& h, Words&) { h.answers = false; }},
    };
    const auto found = verbs.find(words.peek());
    if (found == verbs.end()) throw ScriptError("expected what a host does, got " + words.peek());
    words.next();
    found->second(*this, host, words);
  }

  void log(const Host& host, const char* direction, const Octets& frame) {
    constexpr std::size_t most = 12;
    const auto passed = std::chrono::duration_cast<std::chrono::microseconds>(now_ - begin_).count();
    log_.push_back(std::to_string(passed) + " us " + host.name + direction + text_of(frame));
    if (log_.size() > most) log_.pop_front();
  }

  Host& peer(const Host& host) { return &host == &ue_ ? core_ : ue_; }

  void pass_time(const std::string& word) {
    const std::size_t unit = word.find_first_not_of("0123456789", 1);
    if (unit == std::string::npos) throw ScriptError("expected a time such as +20ms, got " + word);
    const std::uint32_t amount = number_of(word.substr(1, unit - 1));
    const std::string name = word.substr(unit);
    if (name != "ms" && name != "s") throw ScriptError("expected ms or s, got " + name);
    const Instant end = now_ + std::chrono::milliseconds(name == "s" ? amount * 1000U : amount);
    for (int steps = 0; shard_.next_deadline() <= end; ++steps) {
      if (steps > 1'000'000) throw Deviation("time stands still");
      now_ = std::max(now_, shard_.next_deadline());
      shard_.advance(now_);
      deliver();
    }
    now_ = end;
    shard_.advance(now_);
    deliver();
  }

  /// The clock of RFC 7323 section 5.4, one tick each millisecond.
  [[nodiscard]] std::uint32_t clock_of(const Host& host) const {
    const auto passed = std::chrono::duration_cast<std::chrono::milliseconds>(now_ - begin_).count();
    return (host.is_ue ? 7'000'000U : 9'000'000U) + static_cast<std::uint32_t>(passed);
  }

  [[nodiscard]] Wire wire_of(const Host& host, const Segment& segment) {
    Wire wire;
    wire.family = circumstances_.family;
    const Octets ue =
        wire.family == 4 ? Octets{10, 45, 0, 2} : Octets{0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2};
    const Octets core =
        wire.family == 4 ? Octets{198, 51, 100, 7} : Octets{0x20, 1, 0xd, 0xb8, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7};
    wire.source = host.is_ue ? ue : core;
    wire.destination = host.is_ue ? core : ue;
    wire.source_port = host.is_ue ? 40000 : 80;
    wire.destination_port = host.is_ue ? 80 : 40000;
    wire.tags = segment.tags.value_or(std::vector<Tag>());
    wire.tos = static_cast<std::uint8_t>(segment.dscp.value_or(0) << 2U | segment.ecn.value_or(0));
    wire.hops = segment.hops.value_or(64);
    wire.dont_fragment = segment.dont_fragment.value_or(true);
    wire.more_fragments = segment.more_fragments;
    wire.offset = segment.offset.value_or(0);
    wire.between = segment.between;
    wire.first_header = segment.first_header;
    wire.flags = segment.flags;
    wire.seq = segment.seq;
    if (wire.has(bit::ack)) wire.ack = segment.ack.value_or(host.next_expected(peer(host)));
    // Of about the same size, whether it is scaled or not: hosts do not shrink their windows.
    const bool scaled = host.offer().scale && peer(host).offer().scale && !wire.has(bit::syn);
    wire.window = segment.window.value_or(scaled ? host.window.value_or(1000) : host.window.value_or(64240));
    wire.urgent = segment.urgent.value_or(0);
    for (std::uint32_t at = 0; at < segment.length; ++at) {
      const std::uint8_t octet = stream_octet(host.is_ue, segment.seq + at);
      wire.payload.push_back(segment.other_bytes ? static_cast<std::uint8_t>(~octet) : octet);
    }
    write_options(host, segment, wire);
    return wire;
  }

  /// Timestamps where both hosts use them, in the layout of RFC 7323 appendix A, then what the segment names.
  void write_options(const Host& host, const Segment& segment, Wire& wire) {
    std::vector<Octets> options = segment.options;
    const auto is_stamp = [](const Octets& option) { return option.front() == kind::timestamps; };
    const bool named =
        std::any_of(options.begin(), options.end(), is_stamp) || segment.absent.count(kind::timestamps) != 0;
    if (!wire.has(bit::syn) && !wire.has(bit::rst) && host.offer().timestamps && peer(host).offer().timestamps &&
        !named) {
      Octets stamp = {kind::timestamps, 10};
      append_big_endian(stamp, clock_of(host), 4);
      append_big_endian(stamp, host.newest_timestamp(), 4);
      options.insert(options.begin(), stamp);
    }
    for (const Octets& option : options) {
      const bool aligned = option.front() == kind::timestamps || option.front() == kind::sack;
      if (aligned && !wire.has(bit::syn)) wire.options.insert(wire.options.end(), {kind::nop, kind::nop});
      wire.options.insert(wire.options.end(), option.begin(), option.end());
    }
    while (wire.options.size() % 4 != 0) wire.options.push_back(kind::nop);
    if (wire.options.size() > 40) throw ScriptError("options of more than 40 octets");
  }

  void send(Host& host, const Segment& segment) {
    const Wire wire = wire_of(host, segment);
    const Octets frame = write(wire, segment.sum, segment.good_ip_sum);
    const bool partial = segment.sum == Sum::partial && script_.settings.count("partial") != 0;
    log(host, " > ", frame);
    host.sent(wire, frame, (segment.sum == Sum::good || partial) && segment.good_ip_sum);
    packet::Packet packet = pool_.allocate();
    if (frame.size() > packet.tailroom()) throw ScriptError("a frame of " + std::to_string(frame.size()) + " octets");
    std::copy(frame.begin(), frame.end(), packet.append(static_cast<std::uint16_t>(frame.size())));
    shard_.receive(host.is_ue ? Side::radio : Side::core, {&packet, 1}, now_);
    if (packet) throw Deviation("a frame was neither kept nor dropped");
    deliver();
  }

  void send_stream(Host& host, Words& words) {
    const std::string range = words.next();
    const std::size_t colon = range.find(':');
    if (colon == std::string::npos) throw ScriptError("expected a range such as 5001:9001, got " + range);
    std::uint32_t at = number_of(range.substr(0, colon));
    const std::uint32_t end = number_of(range.substr(colon + 1));
    if (words.next() != "by") throw ScriptError("expected `by`");
    const std::uint32_t step = words.number();
    if (step == 0) throw ScriptError("segments of no octet");
    Segment segment = read_stream_segment(words);
    while (at != end) {
      segment.seq = at;
      segment.length = std::min(step, end - at);
      at += segment.length;
      send(host, segment);
    }
  }

  static Segment read_stream_segment(Words& words) {
    std::vector<std::string> all = {".", "0"};
    while (!words.empty()) all.push_back(words.next());
    Words segment(std::move(all));
    return read_segment(segment);
  }

  /// Hands frames that came out to their hosts, which may answer.
  void deliver() {
    for (int frames = 0; !came_.empty(); ++frames) {
      if (frames > 1'000'000) throw Deviation("frames without end");
      const auto [side, frame] = std::move(came_.front());
      came_.erase(came_.begin());
      Host& host = side == Side::radio ? ue_ : core_;
      Host& other = peer(host);
      log(host, " < ", frame);
      const Host* const limit = circumstances_.splits() && !circumstances_.exposed ? &other : nullptr;
      const std::string wrong = host.came(frame, other, limit, script_.settings.count("shrinks") != 0);
      if (!wrong.empty() && broken_.empty()) broken_ = host.name + " got " + text_of(frame) + ": " + wrong;
      const auto read = conformance::read(frame);
      if (host.answers && read && read->good_tcp_sum && read->wire.length() != 0) answer_once(host);
    }
  }

  void answer_once(Host& host) {
    Segment ack;
    ack.flags = bit::ack;
    ack.seq = host.next_seq();
    send(host, ack);
  }

  void answer(Host& host) {
    host.answers = true;
    answer_once(host);
  }

  void meet_requirements() const {
    if (!broken_.empty()) throw Deviation(broken_);
  }

  void expect(Host& host, Words& words, bool among_others) {
    meet_requirements();
    if (words.take("nothing")) {
      if (!host.waiting.empty()) throw Deviation("expected nothing, got " + text_of(host.waiting.front()));
      return;
    }
    const bool same = words.take("same");
    const Segment segment = same ? Segment() : read_segment(words);
    std::string difference = "nothing";
    while (!host.waiting.empty()) {
      const Octets frame = std::move(host.waiting.front());
      host.waiting.pop_front();
      difference = same ? difference_of(frame, peer(host).last_frame()) : difference_of(frame, segment, host.is_ue);
      if (difference.empty()) return;
      difference = text_of(frame) + " (" + difference + ")";
      if (!among_others) break;
    }
    throw Deviation("expected " + std::string(same ? "the frame as it was sent" : "this segment") + ", got " +
                    difference);
  }

  void expect_number(const Host& host, const std::string& what, std::uint32_t now, Words& words) {
    const std::uint32_t expected = words.number();
    if (now == expected) return;
    throw Deviation("expected that " + host.name + " has " + what + " " + std::to_string(expected) + ", it has " +
                    std::to_string(now));
  }

  /// The handshake, whose SYN and SYN-ACK pass as they are; the options after a slash are the SYN-ACK's.
  void open(Words& words) {
    const bool by_core = words.take("by-core");
    Host& first = by_core ? core_ : ue_;
    Host& second = peer(first);
    Segment syn;
    syn.flags = bit::syn;
    syn.seq = first.isn;
    read_options(words, syn);
    Segment answer = syn;
    if (words.take("/")) {
      answer.options.clear();
      read_options(words, answer);
    }
    answer.flags |= bit::ack;
    answer.seq = second.isn;
    Segment ack;
    ack.flags = bit::ack;
    ack.seq = first.isn + 1;
    Words same({"same", "same"});
    send(first, syn);
    expect(second, same, false);
    send(second, answer);
    expect(first, same, false);
    send(first, ack);  // of a connection that is split or steered it goes on with another window
    Words acknowledgement({".", std::to_string(ack.seq), "ack", std::to_string(answer.seq + 1)});
    expect(second, acknowledgement, false);
    forget();  // a window that opens further
  }

  /// Both hosts close, the UE first, and each acknowledges what comes.
  void close() {
    ue_.answers = core_.answers = true;
    for (Host* const host : {&ue_, &core_}) {
      Segment fin;
      fin.flags = bit::fin | bit::ack;
      fin.seq = host->next_seq();
      send(*host, fin);
      pass_time("+1s");
    }
    for (Host* const host : {&ue_, &core_}) {
      if (!host->fin_came()) throw Deviation("expected a FIN, none came to " + host->name);
      if (host->acked() != host->next_seq()) throw Deviation("the FIN of " + host->name + " is not acknowledged");
    }
  }

  void forget() {
    ue_.waiting.clear();
    core_.waiting.clear();
  }

  void count(Words& words) {
    const std::string name = words.next();
    for (std::size_t index = 0; index < proxy::counter_count; ++index) {
      if (proxy::counter_text(index).name != name) continue;
      const std::uint64_t value = shard_.counters().at(index);
      const std::uint32_t expected = words.number();
      if (value == expected) return;
      throw Deviation("expected " + std::to_string(expected) + ", " + name + " is " + std::to_string(value));
    }
    throw ScriptError("expected a counter, got " + name);
  }

  static std::string text_of(const Octets& frame) {
    const auto read = conformance::read(frame);
    return read ? describe(read->wire) : "a frame of " + std::to_string(frame.size()) + " octets";
  }

  const Script& script_;
  const Circumstances& circumstances_;
  packet::PacketPool& pool_;
  std::array<std::uint32_t, 2> isns_;
  Host ue_;
  Host core_;
  const Instant begin_{std::chrono::seconds(100)};
  Instant now_ = begin_;
  std::vector<std::pair<Side, Octets>> came_;
  std::deque<std::string> log_;
  std::string broken_;  ///< the first requirement that a frame broke
  bool resets_ = false;
  proxy::Shard shard_;
};

}  // namespace

Outcome play(const Script& script, const Circumstances& circumstances, packet::PacketPool& pool) {
  int number = 1;
  try {
    Play play(script, circumstances, pool);
    try {
      for (const Line& line : script.lines) {
        number = line.number;
        play.line(line);
      }
      play.end();
    } catch (const Deviation& deviation) {
      return {number, deviation.what() + play.transcript()};
    }
  } catch (const ScriptError& error) {
    return {number, std::string("the script: ") + error.what()};
  }
  return {};
}

}  // namespace sluice::conformance
