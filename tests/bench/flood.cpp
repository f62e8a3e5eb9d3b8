// A flood from one interface: SYNs, or UDP datagrams of the same length, at a given rate from a given number of
// sources, with full checksums. tests/lab/flood.py measures what it takes from others.

#include <arpa/inet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <netpacket/packet.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

constexpr std::size_t frame_length = 74;  ///< octets of a SYN as Linux sends it, with all its options
constexpr std::size_t l3 = 14;
constexpr std::size_t l4 = l3 + 20;
constexpr long tick_ns = 1'000'000;
constexpr std::uint32_t first_source = 0x64400000;  ///< 100.64.0.0/10
constexpr std::uint32_t destination = 0xc6336401;   ///< 198.51.100.1, an unused address: no host answers

using Frame = std::array<std::uint8_t, frame_length>;

void put16(std::uint8_t* at, std::uint32_t value) {
  at[0] = static_cast<std::uint8_t>(value >> 8U);
  at[1] = static_cast<std::uint8_t>(value);
}
void put32(std::uint8_t* at, std::uint32_t value) {
  put16(at, value >> 16U);
  put16(at + 2, value);
}

std::uint32_t sum(const std::uint8_t* bytes, std::size_t length) {
  std::uint32_t total = 0;
  for (std::size_t i = 0; i < length; i += 2) total += static_cast<std::uint32_t>(bytes[i]) << 8U | bytes[i + 1];
  return total;
}
std::uint32_t folded(std::uint32_t total) {
  while (total >> 16U != 0) total = (total & 0xffffU) + (total >> 16U);
  return ~total & 0xffffU;
}

bool read_mac(const char* text, std::uint8_t* out) {
  unsigned byte[6];
  if (std::sscanf(text, "%x:%x:%x:%x:%x:%x", byte, byte + 1, byte + 2, byte + 3, byte + 4, byte + 5) != 6) return false;
  for (int i = 0; i < 6; ++i) out[i] = static_cast<std::uint8_t>(byte[i]);
  return true;
}

void set_source(Frame& frame, std::uint32_t number, bool syn) {
  constexpr std::uint32_t l4_length = frame_length - l4;
  std::uint8_t* const ip = frame.data() + l3;
  std::uint8_t* const transport = frame.data() + l4;
  put32(ip + 12, first_source + number);
  put16(ip + 10, 0);
  put16(ip + 10, folded(sum(ip, 20)));
  put16(transport, 1024 + number % 60'000);
  if (syn) put32(transport + 4, number * 2'654'435'761U);
  std::uint8_t* const checksum = transport + (syn ? 16 : 6);
  put16(checksum, 0);
  put16(checksum, folded(sum(ip + 12, 8) + (syn ? 6 : 17) + l4_length + sum(transport, l4_length)));
}

Frame frame_of(const char* from, const char* to, bool syn) {
  Frame frame{};
  if (!read_mac(to, frame.data()) || !read_mac(from, frame.data() + 6)) {
    std::fprintf(stderr, "flood: not a MAC address\n");
    std::exit(2);
  }
  put16(frame.data() + 12, 0x0800);
  std::uint8_t* const ip = frame.data() + l3;
  ip[0] = 0x45;
  put16(ip + 2, frame_length - l3);
  ip[8] = 64;
  ip[9] = syn ? 6 : 17;
  put32(ip + 16, destination);
  std::uint8_t* const transport = frame.data() + l4;
  put16(transport + 2, 80);
  if (syn) {
    transport[12] = 10 << 4;
    transport[13] = 2;
    put16(transport + 14, 64'240);
    constexpr std::array<std::uint8_t, 20> options = {2, 4, 5, 180, 4, 2, 8, 10, 0, 0, 0, 1, 0, 0, 0, 0, 1, 3, 3, 7};
    std::memcpy(transport + 20, options.data(), options.size());
  } else {
    put16(transport + 4, frame_length - l4);
  }
  return frame;
}

int open_interface(const char* name) {
  const int fd = socket(AF_PACKET, SOCK_RAW, 0);
  sockaddr_ll address{};
  address.sll_family = AF_PACKET;
  address.sll_ifindex = static_cast<int>(if_nametoindex(name));
  const int one = 1;
  if (fd < 0 || address.sll_ifindex == 0 || bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
      setsockopt(fd, SOL_PACKET, PACKET_QDISC_BYPASS, &one, sizeof one) != 0) {
    std::perror("flood");
    std::exit(1);
  }
  return fd;
}

/// Sends all of them; returns how many the interface took.
std::size_t send_all(int fd, std::vector<Frame>& frames) {
  std::vector<iovec> parts(frames.size());
  std::vector<mmsghdr> messages(frames.size());
  for (std::size_t i = 0; i < frames.size(); ++i) {
    parts[i] = {frames[i].data(), frame_length};
    messages[i].msg_hdr.msg_iov = &parts[i];
    messages[i].msg_hdr.msg_iovlen = 1;
  }
  const int sent = sendmmsg(fd, messages.data(), static_cast<unsigned>(messages.size()), 0);
  return sent > 0 ? static_cast<std::size_t>(sent) : 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 8 || (std::string(argv[2]) != "syn" && std::string(argv[2]) != "udp")) {
    std::fprintf(stderr, "usage: flood INTERFACE syn|udp PER_SECOND SECONDS SOURCES FROM_MAC TO_MAC\n");
    return 2;
  }
  const bool syn = std::string(argv[2]) == "syn";
  const long per_second = std::atol(argv[3]);
  const long seconds = std::atol(argv[4]);
  const auto sources = static_cast<std::uint32_t>(std::atol(argv[5]));
  const int fd = open_interface(argv[1]);
  const Frame pattern = frame_of(argv[6], argv[7], syn);
  std::uint32_t next = 0;
  std::size_t sent = 0;
  timespec when{};
  clock_gettime(CLOCK_MONOTONIC, &when);
  for (long tick = 0; tick < seconds * 1000; ++tick) {
    std::vector<Frame> frames(static_cast<std::size_t>((tick + 1) * per_second / 1000 - tick * per_second / 1000),
                              pattern);
    for (Frame& frame : frames) set_source(frame, next++ % sources, syn);
    if (!frames.empty()) sent += send_all(fd, frames);
    when.tv_nsec += tick_ns;
    if (when.tv_nsec >= 1'000'000'000) {
      when.tv_nsec -= 1'000'000'000;
      ++when.tv_sec;
    }
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &when, nullptr);
  }
  std::printf("%zu\n", sent);
  close(fd);
  return 0;
}
