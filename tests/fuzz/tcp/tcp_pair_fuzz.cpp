// Two endpoints that talk to each other in virtual time; the input says who writes, what is lost, repeated, delayed or
// forged, and when time passes. Nothing may crash, leak or break an invariant; and as long as nothing was forged, what
// is read is what was written.
#include <rte_eal.h>

#include <memory>
#include <string>

#include "tests/fuzz/tcp/pair.hpp"

namespace {

using namespace sluice;
using namespace sluice::tcp;
using fuzz::End;
using fuzz::Flight;
using fuzz::Input;
using fuzz::require;

std::unique_ptr<packet::PacketPool>& pool() {
  static std::unique_ptr<packet::PacketPool> slot;
  return slot;
}

std::uint8_t content(int side, std::uint32_t position) {
  return static_cast<std::uint8_t>((position + static_cast<std::uint32_t>(side) * 77U) * 2654435761U >> 24);
}

constexpr std::array models{CongestionAlgorithm::bbr, CongestionAlgorithm::bbr3, CongestionAlgorithm::copa};

class Pair {
 public:
  explicit Pair(Input input) : input_(input) { open(input_.byte(), input_.byte()); }
  ~Pair() {
    for (End& end : ends_) end.endpoint.release_queues();
  }
  Pair(const Pair&) = delete;
  Pair& operator=(const Pair&) = delete;

  void run() {
    while (!input_.empty()) {
      act();
      for (int side = 0; side < 2; ++side) read(side);
      for (End& end : ends_) end.check();
    }
  }

 private:
  const EndpointConfig& config_of(std::size_t side) {
    return config_.wants_pacing() ? paced_[side].begin(config_) : config_;
  }

  void open(std::uint8_t options, std::uint8_t how) {
    config_.congestion = (how & 1) != 0 ? CongestionAlgorithm::cubic : CongestionAlgorithm::newreno;
    if ((how & 32) != 0) config_.congestion = models[how % models.size()];
    config_.pacing = (how & 64) != 0;
    config_.max_out_of_order = (how & 2) != 0 ? 16 : 4096;
    const SynOptions offer{.mss = static_cast<std::uint16_t>((options & 1) != 0 ? 1460 : 100),
                           .window_scale = static_cast<std::uint8_t>(options >> 5),
                           .has_window_scale = (options & 2) != 0,
                           .sack_permitted = (options & 4) != 0,
                           .timestamps = (options & 8) != 0,
                           .ecn = (options & 16) != 0};
    const std::array<SeqNum, 2> base{SeqNum(0xfffff000U), SeqNum(0x7ffff000U)};
    if ((how & 4) != 0) {
      ends_[0].endpoint.connect(config_of(0), base[0], offer, now_);
      ends_[0].endpoint.emit(now_, ends_[0]);
      ends_[1].endpoint.accept(config_of(1), ends_[0].sent.front().segment, base[1], offer, now_);
      ends_[0].sent.clear();
      return;
    }
    for (std::size_t i = 0; i < 2; ++i) {
      EstablishedState state;
      state.snd_nxt = base[i];
      state.rcv_nxt = base[1 - i];
      state.rcv_adv = base[1 - i] + 20000;
      state.local = state.remote = offer;
      state.snd_window = 20000;
      state.rtt = std::chrono::milliseconds((how & 8) != 0 ? 50 : 0);
      ends_[i].endpoint.establish_at(config_of(i), state, now_);
    }
    if ((how & 16) != 0) ends_[0].endpoint.set_window_source(WindowSource::allowance, Bytes());
  }

  void act() {
    const std::uint8_t what = input_.byte();
    const int side = what >> 7;
    allowance_ = (what & 0x20) == 0 ? Bytes::max() : (what & 0x10) != 0 ? Bytes() : Bytes(4000);
    End& end = ends_[side];
    switch (what & 0x0f) {
      case 0:
      case 1:
        write(side, 1U + input_.byte() * 6U);
        break;
      case 2:
        deliver(side, (what & 0x40) != 0 ? input_.byte() : 0U, false);
        break;
      case 3:
        if (!end.sent.empty()) end.sent.pop_front();
        break;
      case 4:
        if (!end.sent.empty()) end.sent.push_back(end.sent[input_.byte() % end.sent.size()]);
        break;
      case 5:
        deliver(side, input_.byte(), true);
        break;
      case 6:
        pass(std::chrono::milliseconds(1 + input_.byte() * 8));
        break;
      case 7:
        end.endpoint.set_receive_room(Bytes(input_.byte() * 200));
        break;
      case 8:
        if ((what & 0x70) == 0) end.endpoint.finish();
        break;
      case 9:
        if ((what & 0x70) == 0x70) end.endpoint.abort();
        break;
      case 10:
        end.endpoint.set_window_source((what & 0x40) != 0 ? WindowSource::allowance : WindowSource::congestion_control,
                                       Bytes(input_.byte() * 1000));
        break;
      case 11:
        if (!end.sent.empty()) end.sent.front().segment.ecn = congestion_experienced;
        break;
      case 12:
        end.endpoint.set_timestamp(static_cast<std::uint32_t>(now_.time_since_epoch().count() / 1000000));
        break;
      case 14:
        end.endpoint.path_carries(end.endpoint.snd_una() + input_.byte(), Bytes(input_.byte() * 8), now_);
        break;
      case 13:
        signal(end.endpoint, (what & 0x40) != 0);
        break;
      default:  // most of what happens: everything arrives
        for (int i = 0; i < 8; ++i) deliver(side, 0, false);
        pass(std::chrono::milliseconds(10));
    }
    emit(side, allowance_);
  }

  void signal(Endpoint& endpoint, bool urgent) {
    if (urgent) {
      endpoint.announce_urgent(endpoint.snd_nxt() + input_.byte() * 16U);
    } else if (endpoint.take_keepalive()) {
      endpoint.answer_keepalive();
    } else {
      endpoint.send_keepalive();
    }
  }

  void write(int side, std::uint32_t length) {
    End& end = ends_[side];
    if (end.written > 200'000 || end.endpoint.state() == State::closed) return;
    packet::Packet packet = pool()->allocate();
    if (!packet) return;
    length = std::min<std::uint32_t>(length, end.endpoint.effective_mss());
    std::uint8_t* at = packet.append(static_cast<std::uint16_t>(length));
    // What write() ignores has no place in the stream.
    const Bytes before = end.endpoint.unsent();
    for (std::uint32_t i = 0; i < length; ++i) at[i] = content(side, end.written + i);
    packet.note().payload_len = static_cast<std::uint16_t>(length);
    packet.note().payload_sum = packet::ones_complement_sum(packet.bytes());
    end.endpoint.write(std::move(packet));
    if (end.endpoint.unsent() != before) end.written += length;
  }

  void deliver(int from, std::size_t which, bool forge) {
    End& end = ends_[from];
    if (end.sent.empty()) return;
    const auto at = end.sent.begin() + static_cast<std::ptrdiff_t>(which % end.sent.size());
    Flight flight = std::move(*at);
    end.sent.erase(at);
    if (forge) change(flight);
    packet::Packet payload;
    if (!flight.bytes.empty()) {
      payload = pool()->allocate();
      if (!payload) return;
      std::copy(flight.bytes.begin(), flight.bytes.end(),
                payload.append(static_cast<std::uint16_t>(flight.bytes.size())));
      payload.note().payload_len = payload.size();
      payload.note().payload_sum = packet::ones_complement_sum(payload.bytes());
    }
    ends_[1 - from].endpoint.receive(flight.segment, std::move(payload), now_);
  }

  /// A forger who knows the connection, or a network that damages more than a checksum finds.
  void change(Flight& flight) {
    forged_ = true;
    Segment& segment = flight.segment;
    const std::uint8_t what = input_.byte();
    if ((what & 1) != 0) segment.seq += static_cast<std::uint32_t>(static_cast<std::int8_t>(input_.byte()) * 256);
    if ((what & 2) != 0) segment.ack += static_cast<std::uint32_t>(static_cast<std::int8_t>(input_.byte()) * 256);
    if ((what & 4) != 0) segment.flags.bits = input_.byte();
    if ((what & 8) != 0) segment.window = static_cast<std::uint16_t>(input_.word());
    if ((what & 16) != 0) segment.ts_value = input_.word();
    if ((what & 32) != 0) segment.ts_echo = input_.word();
    if ((what & 64) != 0) {
      segment.sack_count = input_.byte() % 5;
      for (SackBlock& block : segment.sack_blocks) {
        block.left = segment.ack + input_.byte() * 128U;
        block.right = block.left + input_.byte() * 64U;
      }
    }
    if ((what & 128) != 0) segment.seq = SeqNum(input_.word());
  }

  void pass(Duration time) {
    now_ += time;
    for (int side = 0; side < 2; ++side) {
      if (ends_[side].endpoint.next_deadline() <= now_) ends_[side].endpoint.on_timer(now_);
      emit(side, allowance_);
    }
  }

  void emit(int side, Bytes allowance) {
    End& end = ends_[side];
    const Bytes sent = end.endpoint.emit(now_, end, allowance);
    require(end.endpoint.window_source() != WindowSource::allowance || sent <= allowance);
  }

  void read(int side) {
    End& end = ends_[side];
    while (const packet::Packet packet = end.endpoint.read()) {
      require(packet.size() == packet.note().payload_len);
      for (const std::uint8_t byte : packet.bytes()) {
        require(forged_ || byte == content(1 - side, end.read));
        ++end.read;
      }
    }
    require(forged_ || end.read <= ends_[1 - side].written);
  }

  Input input_;
  EndpointConfig config_;
  PacedEndpoint paced_[2];
  End ends_[2];
  Instant now_{std::chrono::hours(1)};
  Bytes allowance_ = Bytes::max();  ///< from one act to the next
  bool forged_ = false;
};

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char*** argv) {
  std::array<std::string, 9> words = {(*argv)[0], "--no-huge", "--no-shconf",   "--no-pci", "--no-telemetry",
                                      "-m",       "64",        "--log-level=3", "-l0"};
  std::array<char*, words.size()> arguments{};
  for (std::size_t i = 0; i < words.size(); ++i) arguments[i] = words[i].data();
  require(rte_eal_init(static_cast<int>(arguments.size()), arguments.data()) >= 0);
  pool() = std::make_unique<packet::PacketPool>("fuzz", 2048);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > 4096) return 0;
  Pair(Input({data, size})).run();
  require(pool()->in_use() == 0);
  return 0;
}
