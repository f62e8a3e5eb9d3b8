// Writes pcapng blocks (draft-ietf-opsawg-pcapng): section header, interfaces, packets and statistics. CaptureStream
// and the recovery of recorded frames call it. Invariant: every block is a multiple of four bytes and carries its
// length at both ends, in the byte order of the machine.
#include "proxy/ops/capture/pcapng.hpp"

#include <array>
#include <bit>
#include <type_traits>

namespace sluice::capture::pcapng {
namespace {

static_assert(std::endian::native == std::endian::little,
              "the blocks' byte order is the machine's: readers know either");

// Block types and option codes (section 4 of the draft).
constexpr std::uint32_t section_header = 0x0A0D0D0A;
constexpr std::uint32_t interface_description = 1;
constexpr std::uint32_t interface_statistics = 5;
constexpr std::uint32_t enhanced_packet = 6;
constexpr std::uint32_t byte_order_magic = 0x1A2B3C4D;
constexpr std::uint64_t unknown_length = UINT64_MAX;
constexpr std::uint16_t ethernet = 1;
constexpr std::uint16_t opt_end = 0;
constexpr std::uint16_t opt_comment = 1;
constexpr std::uint16_t shb_userappl = 4;
constexpr std::uint16_t if_name = 2;
constexpr std::uint16_t if_description = 3;
constexpr std::uint16_t if_tsresol = 9;
constexpr std::uint16_t isb_starttime = 2;
constexpr std::uint16_t isb_endtime = 3;
constexpr std::uint16_t isb_ifrecv = 4;
constexpr std::uint16_t isb_ifdrop = 5;
constexpr std::uint16_t isb_filteraccept = 6;
constexpr std::uint16_t epb_flags = 2;
constexpr std::uint8_t nanoseconds = 9;

/// Appends one pcapng block: its type, its length and its body. The destructor appends the length again.
class Block {
 public:
  Block(std::string& out, std::uint32_t type) : out_(out), start_(out.size()) {
    add(type);
    add(std::uint32_t{0});
  }
  ~Block() {
    const auto length = static_cast<std::uint32_t>(out_.size() - start_ + sizeof(std::uint32_t));
    add(length);
    const auto bytes = std::bit_cast<std::array<char, sizeof length>>(length);
    out_.replace(start_ + sizeof length, bytes.size(), bytes.data(), bytes.size());
  }
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

  template <typename T>
  requires std::is_integral_v<T>
  void add(T value) {
    const auto bytes = std::bit_cast<std::array<char, sizeof value>>(value);
    out_.append(bytes.data(), bytes.size());
  }
  /// Appends bytes to the block, with padding to a multiple of four bytes.
  void add_bytes(std::string_view bytes) {
    out_.append(bytes);
    out_.append(-bytes.size() % 4, '\0');
  }
  void add_option(std::uint16_t code, std::string_view value) {
    add(code);
    add(static_cast<std::uint16_t>(value.size()));
    add_bytes(value);
  }
  template <typename T>
  requires std::is_integral_v<T>
  void add_option(std::uint16_t code, T value) {
    const auto bytes = std::bit_cast<std::array<char, sizeof value>>(value);
    add_option(code, std::string_view(bytes.data(), bytes.size()));
  }
  /// Appends a timestamp to the block. The upper 32 bits come first, whatever the byte order of the machine.
  void add_time(std::uint64_t time) {
    add(static_cast<std::uint32_t>(time >> 32U));
    add(static_cast<std::uint32_t>(time));
  }
  void add_time_option(std::uint16_t code, std::uint64_t time) { add_option(code, std::rotl(time, 32)); }
  void end_options() {
    add(opt_end);
    add(std::uint16_t{0});
  }

 private:
  std::string& out_;
  std::size_t start_;
};

std::string_view text_of(std::span<const std::uint8_t> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};  // octets are passed as characters
}

}  // namespace

void begin(std::string& out, std::string_view program, std::span<const std::string> devices,
           std::uint32_t snap_length) {
  {
    Block block(out, section_header);
    block.add(byte_order_magic);
    block.add(std::uint16_t{1});  // version 1.0
    block.add(std::uint16_t{0});
    block.add(unknown_length);
    block.add_option(shb_userappl, program);
    block.end_options();
  }
  for (std::size_t wire = 0; wire < wire_count; ++wire) {
    Block block(out, interface_description);
    block.add(ethernet);
    block.add(std::uint16_t{0});
    block.add(snap_length);
    block.add_option(if_name, wire_names.at(wire));
    block.add_option(if_description, std::string_view(devices[wire / 2]));
    block.add_option(if_tsresol, nanoseconds);
    block.end_options();
  }
}

void add_frame(std::string& out, const FrameHeader& frame, std::uint64_t time, std::span<const std::uint8_t> bytes,
               std::string_view comment) {
  constexpr std::uint32_t inbound = 1;
  constexpr std::uint32_t outbound = 2;
  const bool sent = frame.wire % 2 == 1;
  Block block(out, enhanced_packet);
  block.add(std::uint32_t{frame.wire});
  block.add_time(time);
  block.add(static_cast<std::uint32_t>(bytes.size()));
  block.add(frame.length);
  block.add_bytes(text_of(bytes));
  if (!comment.empty()) block.add_option(opt_comment, comment);
  block.add_option(epb_flags, sent ? outbound : inbound);
  block.end_options();
}

void add_statistics(std::string& out, std::size_t wire, const WireCounts& counts, std::uint64_t begin,
                    std::uint64_t end) {
  Block block(out, interface_statistics);
  block.add(static_cast<std::uint32_t>(wire));
  block.add_time(end);
  block.add_time_option(isb_starttime, begin);
  block.add_time_option(isb_endtime, end);
  block.add_option(isb_ifrecv, counts.seen);
  block.add_option(isb_ifdrop, counts.lost);
  block.add_option(isb_filteraccept, counts.selected);
  block.end_options();
}

}  // namespace sluice::capture::pcapng
