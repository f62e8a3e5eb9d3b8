#pragma once

#include <array>
#include <bit>
#include <cassert>
#include <cstdint>

#include "dataplane/flow/lazy_array.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::flow {

/// Timers for ids (such as flow indices), one each; all operations are O(1). The class is a hierarchical timing wheel
/// (Varghese and Lauck). The level of a timer is the highest 6-bit digit in which its tick differs from the current
/// tick. So all timers of a level are due before those of the next level, and empty spans are skipped.
///
/// If a timer is postponed, only its new deadline is stored (one cache line). The timer moves to its new slot when its
/// old slot is due. The wheel uses 16 bytes per id, reserved at construction; pages are used when ids are first
/// scheduled. Thread: one; reads no clock.
class TimerWheel {
 public:
  /// Creates a wheel for the ids 0 to capacity-1, capacity < 2^31. `tick` (1 ns to 1 s) is rounded down to a power of
  /// two nanoseconds. A timer fires at the first tick at or after its deadline. `origin` must not be later than any
  /// time passed to another function.
  TimerWheel(std::uint32_t capacity, Instant origin, Duration tick = std::chrono::milliseconds(1));

  /// Sets the timer of `id` to `deadline`; an earlier setting is replaced. A deadline in the past fires at the next
  /// tick; `never` cancels. A deadline more than 2^31 - 1 ticks ahead fires after 2^31 - 1 ticks.
  void schedule(std::uint32_t id, Instant deadline) noexcept {
    if (deadline == never) {
      cancel(id);
      return;
    }
    Node& node = nodes_[id];
    const std::uint32_t tick = near_tick(tick_at_or_after(deadline));
    node.deadline = tick;
    if (node.link_plus != 0) {
      if (static_cast<std::int32_t>(tick - node.queued) >= 0) return;  // its slot is due in time
      unlink(id);
    } else {
      ++size_;
    }
    link(id, tick);
  }
  /// Cancels the timer of `id` if it is set.
  void cancel(std::uint32_t id) noexcept {
    if (nodes_[id].link_plus == 0) return;
    unlink(id);
    --size_;
  }
  [[nodiscard]] bool scheduled(std::uint32_t id) const noexcept { return nodes_[id].link_plus != 0; }
  /// Prefetches the memory that schedule(id) accesses.
  void prefetch(std::uint32_t id) const noexcept { __builtin_prefetch(nodes_.data() + id); }

  /// Calls fire(id) for every timer due at `now`, earliest tick first; each timer is unset before its call. `fire` may
  /// schedule and cancel any id; a timer that it schedules fires at a later tick. A call with an earlier `now` than
  /// before does nothing. Returns false after `most` timers were fired or moved; next() then returns a time that has
  /// passed, and the next call continues.
  template <typename Fire>
  bool advance(Instant now, std::uint32_t most, Fire&& fire) {
    return is_quiet(now) || run(now, most, fire);
  }
  template <typename Fire>
  void advance(Instant now, Fire&& fire) {
    advance(now, UINT32_MAX, fire);
  }

  /// True if advance() has nothing to do at `now`. The test is one comparison, because a polling thread calls it many
  /// times per tick.
  [[nodiscard]] bool is_quiet(Instant now) const noexcept { return now < quiet_until_; }

  /// Returns a time before which no timer is due; `never` if none is set. After advance(next()) it returns a later
  /// time.
  [[nodiscard]] Instant next() const noexcept {
    if (levels_ == 0) return never;
    return origin_ + Duration(static_cast<std::int64_t>(first_place().tick << shift_));
  }

  [[nodiscard]] std::uint32_t size() const noexcept { return size_; }
  [[nodiscard]] Duration tick() const noexcept { return Duration(std::int64_t{1} << shift_); }

 private:
  static constexpr std::uint32_t none = UINT32_MAX;
  static constexpr unsigned digit_bits = 6, slots = 1U << digit_bits, level_count = 11;
  static constexpr std::uint32_t head_mark = 0x80000000U;

  /// Timer of one id, as an entry of the doubly linked list of its slot. A link refers to an entry by 1 + id, or to the
  /// slot itself by head_mark + its number; 0 refers to nothing.
  struct Node {
    std::uint32_t next_plus = 0;
    /// Previous node of the slot's list, or the slot if this node is the first; 0 if the timer is not set.
    std::uint32_t link_plus = 0;
    std::uint32_t deadline = 0;  ///< low 32 bits of the tick at which the timer is due
    std::uint32_t queued = 0;    ///< low 32 bits of the tick at which the timer's slot is due; not after `deadline`
  };
  static_assert(sizeof(Node) == 16);

  /// Slot of the wheel: its number, counted over all levels, and the tick at which the slot is due.
  struct Place {
    std::uint32_t number;
    std::uint64_t tick;
  };

  [[nodiscard]] std::uint64_t tick_at_or_before(Instant at) const noexcept {
    return at <= origin_ ? 0 : static_cast<std::uint64_t>((at - origin_).count()) >> shift_;
  }
  [[nodiscard]] std::uint64_t tick_at_or_after(Instant at) const noexcept {
    if (at <= origin_) return 0;
    return ((static_cast<std::uint64_t>((at - origin_).count()) - 1) >> shift_) + 1;
  }
  /// Returns the low 32 bits of a tick. The tick is first limited to the range from the next tick to 2^31 - 1 ticks
  /// ahead.
  [[nodiscard]] std::uint32_t near_tick(std::uint64_t tick) const noexcept {
    if (tick <= present_) return static_cast<std::uint32_t>(present_ + 1);
    const std::uint64_t ahead = tick - present_;
    return static_cast<std::uint32_t>(present_ + (ahead < 0x7fffffffU ? ahead : 0x7fffffffU));
  }
  /// Returns the 64-bit number of the first tick, from the current one on, whose low 32 bits are `low`.
  [[nodiscard]] std::uint64_t whole_tick(std::uint32_t low) const noexcept {
    return present_ + (low - static_cast<std::uint32_t>(present_));
  }

  /// Returns the first slot that is due. Requires that a timer is set. If advance() left a slot unfinished, that slot
  /// is still the first, and its tick is the current tick.
  [[nodiscard]] Place first_place() const noexcept {
    if (unfinished_ != none && heads_[unfinished_] != 0) [[unlikely]]
      return {unfinished_, present_};
    const auto level = static_cast<unsigned>(std::countr_zero(levels_));
    const auto slot = static_cast<unsigned>(std::countr_zero(occupied_[level]));
    const unsigned low = level * digit_bits;
    const std::uint64_t above = low + digit_bits >= 64 ? 0 : present_ >> (low + digit_bits) << (low + digit_bits);
    return {level * slots + slot, above | std::uint64_t{slot} << low};
  }

  void link(std::uint32_t id, std::uint32_t tick) noexcept {
    const std::uint64_t when = whole_tick(tick);
    const std::uint64_t differs = when ^ present_;
    const unsigned level = differs == 0 ? 0 : (63U - static_cast<unsigned>(std::countl_zero(differs))) / digit_bits;
    const auto slot = static_cast<unsigned>(when >> (level * digit_bits)) & (slots - 1);
    const std::uint32_t number = level * slots + slot;
    Node& node = nodes_[id];
    node.queued = tick;
    node.link_plus = head_mark | number;
    node.next_plus = heads_[number];
    if (node.next_plus != 0) nodes_[node.next_plus - 1].link_plus = id + 1;
    heads_[number] = id + 1;
    occupied_[level] |= std::uint64_t{1} << slot;
    levels_ |= 1U << level;
  }

  void unlink(std::uint32_t id) noexcept {
    Node& node = nodes_[id];
    if (node.next_plus != 0) nodes_[node.next_plus - 1].link_plus = node.link_plus;
    if ((node.link_plus & head_mark) == 0) {
      nodes_[node.link_plus - 1].next_plus = node.next_plus;
    } else {
      begin_place(node.link_plus & ~head_mark, node.next_plus);
    }
    node.link_plus = 0;
  }
  /// Makes the node with the link `first_plus` (1 + id) the first of the slot with this number; 0 marks the slot empty.
  void begin_place(std::uint32_t number, std::uint32_t first_plus) noexcept {
    heads_[number] = first_plus;
    if (first_plus != 0) return;
    const std::uint32_t level = number / slots;
    occupied_[level] &= ~(std::uint64_t{1} << (number % slots));
    if (occupied_[level] == 0) levels_ &= ~(1U << level);
  }
  /// Unlinks the first node of the slot `number`, which must not be empty; returns its id.
  std::uint32_t take_first(std::uint32_t number) noexcept {
    const std::uint32_t id = heads_[number] - 1;
    Node& node = nodes_[id];
    if (node.next_plus != 0) nodes_[node.next_plus - 1].link_plus = head_mark | number;
    begin_place(number, node.next_plus);
    node.link_plus = 0;
    return id;
  }

  /// Advances the wheel to `now`; called by advance() if a tick has passed. Returns false if `most` timers were handled
  /// before all due timers were.
  template <typename Fire>
  [[gnu::noinline]] bool run(Instant now, std::uint32_t most, Fire&& fire) {
    const std::uint64_t now_tick = tick_at_or_before(now);
    while (levels_ != 0) {
      const Place place = first_place();
      if (place.tick > now_tick) break;
      present_ = place.tick;
      unfinished_ = place.number;
      if (!run_place(place.number, most, fire)) {
        quiet_until_ = Instant::min();
        return false;
      }
    }
    unfinished_ = none;
    if (now_tick > present_) present_ = now_tick;
    quiet_until_ = origin_ + Duration(static_cast<std::int64_t>((present_ + 1) << shift_));
    return true;
  }

  /// Empties the slot `number`, which is due: fires timers that are due and moves the others to their new slots.
  /// Decrements `most` per timer; returns false if it reached zero.
  template <typename Fire>
  bool run_place(std::uint32_t number, std::uint32_t& most, Fire&& fire) {
    // Timers that `fire` schedules are later than the present tick, so they never enter this slot.
    while (heads_[number] != 0) {
      if (most == 0) return false;
      --most;
      const std::uint32_t id = take_first(number);
      const std::uint32_t deadline = nodes_[id].deadline;
      if (deadline == static_cast<std::uint32_t>(present_)) {
        --size_;
        fire(id);
      } else {
        link(id, deadline);
      }
    }
    return true;
  }

  Instant origin_;
  unsigned shift_;
  std::uint32_t levels_ = 0;  ///< bit per level, set if the level holds a timer
  /// Tick up to which all timers have fired, except those of a slot that advance() left unfinished.
  std::uint64_t present_ = 0;
  /// Time before which advance() does nothing. It is the minimum of the type while a slot is unfinished.
  Instant quiet_until_;
  std::uint32_t unfinished_ = none;
  std::uint32_t size_ = 0;
  std::array<std::uint64_t, level_count> occupied_{};  ///< bit per slot, set if the slot holds a timer
  std::array<std::uint32_t, level_count * slots> heads_{};
  LazyArray<Node> nodes_;
};

}  // namespace sluice::flow
