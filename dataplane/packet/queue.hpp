#pragma once

#include <cassert>
#include <cstdint>
#include <utility>

#include "dataplane/packet/packet.hpp"

namespace sluice::packet {

/// Position in a Queue: it refers to one packet of the queue, or to nothing. Does not own the packet. Can be copied.
/// Valid until the packet leaves its queue.
class Cursor {
 public:
  Cursor() = default;
  explicit Cursor(rte_mbuf* buffer) noexcept : buffer_(buffer) {}

  explicit operator bool() const noexcept { return buffer_ != nullptr; }
  friend bool operator==(Cursor a, Cursor b) noexcept { return a.buffer_ == b.buffer_; }
  [[nodiscard]] rte_mbuf* buffer() const noexcept { return buffer_; }
  [[nodiscard]] PacketNote& note() const noexcept { return *static_cast<PacketNote*>(rte_mbuf_to_priv(buffer_)); }
  [[nodiscard]] Cursor next() const noexcept { return Cursor(note().next); }

  /// Returns the position as a number, which can be stored in a scratch field of a PacketNote; zero for nothing.
  [[nodiscard]] std::uint64_t bits() const noexcept { return reinterpret_cast<std::uint64_t>(buffer_); }
  [[nodiscard]] static Cursor from_bits(std::uint64_t bits) noexcept {
    return Cursor(reinterpret_cast<rte_mbuf*>(bits));
  }

 private:
  rte_mbuf* buffer_ = nullptr;
};

/// Gives access to a queued packet as a Packet while this object exists. The queue keeps its reference to the packet.
class BorrowedPacket {
 public:
  explicit BorrowedPacket(Cursor cursor) noexcept : packet_(cursor.buffer()) {}
  BorrowedPacket(const BorrowedPacket&) = delete;
  BorrowedPacket& operator=(const BorrowedPacket&) = delete;
  ~BorrowedPacket() { static_cast<void>(packet_.release()); }

  [[nodiscard]] Packet* get() noexcept { return &packet_; }
  [[nodiscard]] Packet& operator*() noexcept { return packet_; }
  [[nodiscard]] Packet* operator->() noexcept { return &packet_; }

 private:
  Packet packet_;
};

/// FIFO list of packets, linked through PacketNote::next, so queueing allocates no memory. Owns one reference to each
/// packet; the destructor drops all packets that are left.
class Queue {
 public:
  Queue() = default;
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;
  ~Queue() { clear(); }

  [[nodiscard]] bool empty() const noexcept { return !front_; }
  [[nodiscard]] Cursor front() const noexcept { return front_; }
  [[nodiscard]] Cursor back() const noexcept { return back_; }

  void push_back(Packet&& packet) noexcept {
    packet.note().next = nullptr;
    const Cursor added(packet.release());
    if (front_) {
      back_.note().next = added.buffer();
    } else {
      front_ = added;
    }
    back_ = added;
  }
  /// Removes and returns the first packet. Requires !empty().
  Packet pop_front() noexcept {
    assert(front_);
    Packet first(front_.buffer());
    front_ = front_.next();
    if (!front_) back_ = Cursor();
    first.note().next = nullptr;
    return first;
  }
  /// Appends a chain of packets, linked from `first` to `last`, and takes over their references.
  void push_back_chain(Cursor first, Cursor last) noexcept {
    last.note().next = nullptr;
    if (front_) {
      back_.note().next = first.buffer();
    } else {
      front_ = first;
    }
    back_ = last;
  }
  /// Appends all packets of another queue, which is empty afterwards. Requires that it was not empty.
  void push_back_all(Queue& other) noexcept {
    push_back_chain(std::exchange(other.front_, Cursor()), std::exchange(other.back_, Cursor()));
  }
  /// Inserts `packet` after `position`, which is in this queue, or at the front if `position` is empty.
  void insert_after(Cursor position, Packet packet) noexcept {
    const Cursor added(packet.release());
    if (position) {
      added.note().next = position.note().next;
      position.note().next = added.buffer();
    } else {
      added.note().next = front_.buffer();
      front_ = added;
    }
    if (!added.next()) back_ = added;
  }
  void clear() noexcept {
    while (front_) pop_front().reset();
  }

 private:
  Cursor front_;
  Cursor back_;
};

}  // namespace sluice::packet
