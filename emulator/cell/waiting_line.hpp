#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "dataplane/units/bytes.hpp"
#include "dataplane/units/time.hpp"
#include "emulator/aqm/abc.hpp"
#include "emulator/aqm/codel.hpp"
#include "emulator/aqm/dualpi2.hpp"
#include "emulator/aqm/fq_codel_flows.hpp"
#include "emulator/aqm/queue_discipline.hpp"
#include "emulator/net/ring.hpp"

namespace sluice::emulator {

/// Whose packet goes when there is no room.
enum class DropPolicy : std::uint8_t {
  tail,  ///< the one that comes
  head   ///< the oldest that is not being transmitted
};

/// A packet in a UE's radio queue, and since when.
struct Waiting : Queued {
  std::uint32_t length = 0;  ///< IP bytes
  std::uint32_t air = 0;     ///< bytes on the air
  bool is_short = true;      ///< of a short flow
};
[[nodiscard]] inline Bytes size_of(const Waiting& waiting) {
  return Bytes(waiting.length);
}

/// What active queue management did when a packet was taken out.
struct Interventions {
  std::vector<Waiting> dropped;
  std::uint64_t marked = 0;  ///< packets
};

/// What waits in a UE's radio queue: which packet goes next, and which has to go when there is no room. The packet in
/// transit has left it. What comes in the instant of an opportunity misses it. Pure: time is an argument.
class WaitingLine {
 public:
  virtual ~WaitingLine() = default;
  WaitingLine() = default;
  WaitingLine(const WaitingLine&) = delete;
  WaitingLine& operator=(const WaitingLine&) = delete;

  virtual void push(Waiting&& waiting) = 0;
  [[nodiscard]] virtual std::size_t size() const = 0;
  /// Something is there that came before `now`.
  [[nodiscard]] virtual bool ready(Instant now) const = 0;
  /// Whose turn it is. Requires ready(now).
  [[nodiscard]] virtual const Waiting& front(Instant now) = 0;
  /// Takes it out without any management, be it older than `now` or not. Requires size() > 0.
  [[nodiscard]] virtual Waiting pop(Instant now) = 0;
  /// Takes it out to be sent, after what active queue management drops or marks, which is added to `interventions`;
  /// nothing when nothing older than `now` is left then. Requires ready(now).
  [[nodiscard]] virtual std::optional<Waiting> next(Instant now, Interventions& interventions) {
    static_cast<void>(interventions);
    return pop(now);
  }
  /// Something that waits has to go rather than `comer`.
  [[nodiscard]] virtual bool may_evict(const Waiting& comer) const = 0;
  /// Takes that out. Requires may_evict().
  [[nodiscard]] virtual Waiting evict() = 0;
  /// The link could have carried so much between `since` and `now`.
  virtual void offer(Bytes /*bytes*/, Instant /*since*/, Instant /*now*/) {}
  /// The next packet is of a short flow, where the line tells them apart.
  [[nodiscard]] virtual bool short_front() const { return false; }
};

/// First in, first out.
class FifoLine : public WaitingLine {
 public:
  explicit FifoLine(DropPolicy drop) : drop_(drop) {}
  void push(Waiting&& waiting) override {
    bytes_ += size_of(waiting);
    line_.push(std::move(waiting));
  }
  [[nodiscard]] std::size_t size() const override { return line_.size(); }
  [[nodiscard]] bool ready(Instant now) const override { return !line_.empty() && line_.front().since < now; }
  [[nodiscard]] const Waiting& front(Instant /*now*/) override { return line_.front(); }
  [[nodiscard]] Waiting pop(Instant now) override;
  [[nodiscard]] std::optional<Waiting> next(Instant now, Interventions& interventions) override;
  [[nodiscard]] bool may_evict(const Waiting& /*comer*/) const override {
    return drop_ == DropPolicy::head && !line_.empty();
  }
  [[nodiscard]] Waiting evict() override { return pop({}); }

 protected:
  [[nodiscard]] Bytes bytes() const { return bytes_; }

 private:
  DropPolicy drop_;
  Ring<Waiting> line_;
  Bytes bytes_;
};

/// Packets of short flows before those of long ones, whose newest they evict (SFP of the Window Regulator paper).
class ShortFlowsFirstLine final : public WaitingLine {
 public:
  void push(Waiting&& waiting) override { lines_[waiting.is_short ? 0 : 1].push(std::move(waiting)); }
  [[nodiscard]] std::size_t size() const override { return lines_[0].size() + lines_[1].size(); }
  [[nodiscard]] bool ready(Instant now) const override;
  [[nodiscard]] const Waiting& front(Instant now) override { return lines_[turn(now)].front(); }
  [[nodiscard]] Waiting pop(Instant now) override { return lines_[turn(now)].pop(); }
  [[nodiscard]] bool may_evict(const Waiting& comer) const override { return comer.is_short && !lines_[1].empty(); }
  [[nodiscard]] Waiting evict() override { return lines_[1].pop_back(); }
  [[nodiscard]] bool short_front() const override { return !lines_[0].empty(); }

 private:
  [[nodiscard]] std::size_t turn(Instant now) const;
  std::array<Ring<Waiting>, 2> lines_;  ///< of short flows, of long ones
};

/// First in, first out under CoDel (RFC 8289). The delay it holds is that until a packet's first byte is transmitted.
class CodelLine final : public FifoLine {
 public:
  /// Throws std::invalid_argument as CodelControl.
  CodelLine(DropPolicy drop, const CodelParameters& parameters) : FifoLine(drop), control_(parameters) {}
  [[nodiscard]] std::optional<Waiting> next(Instant now, Interventions& interventions) override;

 private:
  CodelControl control_;
};

/// A queue per flow, each under CoDel (RFC 8290); when there is no room, the fattest loses its oldest.
class FqCodelLine final : public WaitingLine {
 public:
  /// Throws std::invalid_argument as FqCodelFlows.
  explicit FqCodelLine(const FqCodelParameters& parameters) : flows_(parameters) {}
  void push(Waiting&& waiting) override { young_.push(std::move(waiting)); }
  [[nodiscard]] std::size_t size() const override { return flows_.size() + young_.size(); }
  [[nodiscard]] bool ready(Instant now) const override {
    return flows_.size() > 0 || (!young_.empty() && young_.front().since < now);
  }
  [[nodiscard]] const Waiting& front(Instant now) override;
  [[nodiscard]] Waiting pop(Instant now) override;
  [[nodiscard]] std::optional<Waiting> next(Instant now, Interventions& interventions) override;
  [[nodiscard]] bool may_evict(const Waiting& /*comer*/) const override { return size() > 0; }
  [[nodiscard]] Waiting evict() override { return flows_.size() > 0 ? flows_.pop_fattest() : young_.pop(); }

 private:
  /// Puts what came before `now` into the flows' queues.
  void settle(Instant now);

  FqCodelFlows<Waiting> flows_;
  Ring<Waiting> young_;  ///< came after the last packet was taken out
};

/// The two queues of DualPI2 (RFC 9332). What finds no room is refused.
class DualPi2Line final : public WaitingLine {
 public:
  /// Throws std::invalid_argument as DualPi2Control.
  explicit DualPi2Line(const DualPi2Parameters& parameters) : queues_(parameters) {}
  void push(Waiting&& waiting) override { queues_.push(std::move(waiting)); }
  [[nodiscard]] std::size_t size() const override { return queues_.size(); }
  [[nodiscard]] bool ready(Instant now) const override { return queues_.ready(now); }
  [[nodiscard]] const Waiting& front(Instant now) override { return queues_.front(now); }
  [[nodiscard]] Waiting pop(Instant now) override { return queues_.pop(now); }
  [[nodiscard]] std::optional<Waiting> next(Instant now, Interventions& interventions) override;
  [[nodiscard]] bool may_evict(const Waiting& /*comer*/) const override { return false; }
  [[nodiscard]] Waiting evict() override { return queues_.pop({}); }

 private:
  DualPi2Queues<Waiting> queues_;
};

/// First in, first out, with the marks of ABC.
class AbcLine final : public FifoLine {
 public:
  /// Throws std::invalid_argument as AbcControl.
  AbcLine(DropPolicy drop, const AbcParameters& parameters) : FifoLine(drop), control_(parameters) {}
  [[nodiscard]] std::optional<Waiting> next(Instant now, Interventions& interventions) override;
  void offer(Bytes bytes, Instant since, Instant now) override { control_.offer(bytes, since, now); }

 private:
  AbcControl control_;
};

}  // namespace sluice::emulator
