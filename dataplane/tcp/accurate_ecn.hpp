#pragma once

#include <cstdint>

#include "dataplane/packet/segment.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::tcp {

/// ECN feedback in the handshake of a connection that two hosts have opened and that a proxy then splits. The proxy's
/// endpoint acts in the name of one of them (its host); the other one is its peer.
struct AdoptedFeedback {
  std::uint8_t received = 5;      ///< count of CE packets that this endpoint's host has reported to the peer
  std::uint8_t acknowledged = 5;  ///< count of CE packets that the peer has reported to this endpoint's host
  std::uint8_t sent_ecn = 0;      ///< ECN field with which the SYN or SYN-ACK of this endpoint's host was sent
  std::uint8_t reported_ecn = 0;  ///< ECN field of that segment as the peer has reported it
  bool zeroed = false;            ///< true if the path clears the peer's ACE field (RFC 9768 section 3.2.2.4)
};

/// Counters of a connection with accurate ECN feedback (RFC 9768). They are stored outside the endpoint, because most
/// connections need none. The ACE field of every ACK counts the packets that arrived with CE, modulo 8. The sender thus
/// gets the number of marked packets. The AccECN option is neither sent nor read.
///
/// The object must not move, because the connection has a pointer to it. The object must outlive the connection.
class AccurateEcn {
 public:
  static constexpr std::uint8_t first_count = 5;  ///< initial value of both counters (RFC 9768 section 3.2.1)
  static constexpr std::uint8_t wrap = 8;         ///< number of values of the ACE field, after which it wraps
  /// Largest number of CE packets that may arrive before an ACK reports them (n of RFC 9768 section 3.2.2.5.1).
  static constexpr std::uint8_t max_unreported = 7;

  /// Resets the counters for a connection that has negotiated no accurate ECN yet.
  void begin() { *this = AccurateEcn(); }
  /// Records whether both hosts negotiated accurate ECN in the handshake.
  void agree(bool both) { agreed_ = both; }
  /// Continues the counters of a connection that two other hosts have opened.
  void adopt(const AdoptedFeedback& feedback);
  [[nodiscard]] bool agreed() const { return agreed_; }
  /// True if outgoing data may be ECN-capable: the peer uses accurate ECN, and the path has not changed the ECN field
  /// during the handshake.
  [[nodiscard]] bool may_mark() const { return agreed_ && intact_; }

  // --- receiving ---

  /// Records the ECN field in the IP header of the peer's SYN, or of its SYN-ACK if `answers` is true.
  void on_syn(std::uint16_t ecn, bool answers);
  /// Counts an acceptable segment that arrived with this ECN field. Returns true if an ACK is due at once, because the
  /// segment begins or ends a run of data segments with CE.
  bool on_segment(std::uint16_t ecn, bool carries_data);
  /// Returns how many CE packets have arrived since the ACE field was last sent.
  [[nodiscard]] std::uint8_t unreported() const { return unreported_; }
  /// Returns the ACE field of a SYN-ACK or of its first acknowledgement. The field reports the ECN field of the peer's
  /// SYN or SYN-ACK (RFC 9768 tables 2 and 3).
  [[nodiscard]] std::uint8_t handshake_ace() const;
  /// Returns the ECN field that handshake_ace() of the peer reports. A code without a meaning reports that the field
  /// `sent` is unchanged (RFC 9768 section 3.1.3).
  [[nodiscard]] static std::uint8_t reported_field(std::uint8_t ace, std::uint8_t sent);
  /// True if the first acknowledgement of the SYN-ACK is still to be sent.
  [[nodiscard]] bool answer_due() const { return answer_due_; }
  void answered() { answer_due_ = false; }
  /// Returns the ACE field of outgoing segments (RFC 9768 section 3.2.2).
  [[nodiscard]] std::uint8_t ace() const { return answer_due_ ? handshake_ace() : received_ & 7U; }
  /// Returns the ACE field of a segment that is sent now. All CE packets counted so far then count as reported.
  std::uint8_t report() {
    unreported_ = 0;
    return ace();
  }

  // --- sending ---

  /// Processes the ACE field of a SYN-ACK. The field reports the ECN field with which this host's SYN arrived; the SYN
  /// was sent as Not-ECT.
  void syn_arrived(std::uint8_t ace);
  /// Processes the ACE field of the segment that completes the handshake (RFC 9768 table 4). If the segment has no data
  /// (`bare`), the field reports the ECN field with which this host's SYN-ACK arrived. With data it may already count
  /// CE marks.
  void syn_ack_arrived(std::uint8_t ace, bool bare);
  /// True if this segment is newer than the last one whose ACE field was processed. `delivers` is true if it
  /// acknowledges new data; otherwise only its timestamp shows its order (RFC 9768 appendix A.1).
  [[nodiscard]] bool is_newest(const Segment& segment, bool delivers);
  /// Processes the ACE field of a newer ACK that newly acknowledges `packets` packets. Returns how many packets were
  /// marked CE since the last processed ACK. If more packets are acknowledged than the field can count, returns the
  /// number that the recent share of marks makes likely (RFC 9768 section 3.2.2.5.2). Marks that the proxy itself has
  /// set (mark_own()) are subtracted. Returns 0 if the path clears the field.
  std::uint32_t marked(std::uint8_t ace, std::uint32_t packets);
  /// Returns the newest count of CE packets that the peer has reported, modulo 8.
  [[nodiscard]] std::uint8_t acknowledged() const { return acknowledged_; }

  // --- handback: the peer's counts reach another host, to which other counts were reported before

  /// Called at a handback, when the peer and the other host of a split connection begin to exchange segments directly.
  /// `reported` is the ACE count that the proxy last sent to the other host in the peer's name. That host would take a
  /// jump from `reported` to the peer's own count for congestion. So the proxy marks packets to the peer with CE until
  /// the peer's own count equals `reported`. Until then, pass() returns `reported`.
  void join(std::uint8_t reported);
  /// True after join() while the peer's own count of CE packets differs from `reported`, the last count that the other
  /// host received from the proxy.
  [[nodiscard]] bool joining() const { return gap_ != 0; }
  /// Returns the ACE field to write into a segment of the peer that is forwarded to the other host of the connection
  /// after join(). Must also be called for segments that are not forwarded, because each one reports the peer's count.
  /// `of_own_data` is true if data of this endpoint was in flight before the segment arrived. The peer may have counted
  /// marks on that data, which the other host must not see.
  std::uint8_t pass(const Segment& segment, bool of_own_data, Instant now);
  /// True if one more ECN-capable packet to the peer must be marked CE after join(). Each mark raises the peer's count
  /// by one, until it equals the count that the other host received from the proxy.
  [[nodiscard]] bool owes_mark() const { return gap_ > own_; }
  /// Records that the proxy has marked a packet to the peer with CE, because the peer's count must still rise
  /// (owes_mark()). `end` is the sequence
  /// number after that packet. A mark counts as lost if the peer acknowledges `end` without counting it. Peers do not
  /// acknowledge pure ACKs. So if the packet is a pure ACK, only segments that arrive at `not_before` or later can show
  /// that its mark is lost.
  void mark_own(SeqNum end, Instant not_before = Instant());
  /// Ends what join() began: no more packets to the peer are marked, and the peer's own ACE counts are forwarded. They
  /// may differ from the count that the proxy sent to the other host in the peer's name. That host then sees a jump,
  /// and may take it for CE marks that did not happen.
  void end_join() {
    gap_ = 0;
    own_ = 0;
    join_ended_ = true;
  }
  /// Records a data packet of the other host that was forwarded to the peer after join(). `capable` is true if it was
  /// ECN-capable, so that the proxy could mark it. After 1000 packets in a row that were not, end_join() is called,
  /// because the sender uses no ECN-capable packets.
  void pass_data(bool capable) {
    constexpr std::uint16_t most = 1000;
    incapable_ = static_cast<std::uint16_t>(capable ? 0 : incapable_ + 1);
    if (incapable_ >= most) end_join();
  }
  /// True if the proxy must send pure ACKs marked CE after join(), because no data is sent to the peer that could carry
  /// the marks.
  [[nodiscard]] bool marked_acks_due() const { return acks_due_ && owes_mark(); }
  /// Requests pure ACKs that are marked CE, if the peer's count must still rise after join() (owes_mark()). Then
  /// marked_acks_due() is true until they are sent.
  void request_marked_acks() { acks_due_ = owes_mark(); }
  /// Records that the CE-marked ACKs of request_marked_acks() were sent. If the peer does not answer, it must be asked
  /// for its count again at `ask_again`.
  void marked_acks_sent(Instant ask_again) {
    acks_due_ = false;
    ask_again_ = ask_again;
  }
  /// Returns when the peer must be asked again for its count of CE packets, because marked ACKs or the answer to them
  /// may be lost. Returns `never` if no answer is awaited.
  [[nodiscard]] Instant question_due() const { return awaits_own() ? ask_again_ : never; }
  /// Records that the peer is asked again for its count of CE packets. The time for the answer is twice
  /// `time_until_lost`, and doubles with each question. If six questions were asked before, calls end_join() and
  /// returns false.
  bool ask_again(Instant now, Duration time_until_lost) {
    constexpr std::uint8_t most = 6;
    if (asked_ == most) {
      end_join();
      return false;
    }
    ask_again_ = now + time_until_lost * (2 << asked_++);
    return true;
  }
  /// True if the proxy has marked a packet CE (mark_own()), and the mark is neither counted by the peer nor known to be
  /// lost.
  [[nodiscard]] bool awaits_own() const { return own_ != 0; }

 private:
  /// ACE code by which a handshake reports that the SYN arrived as Not-ECT.
  static constexpr std::uint8_t not_capable = 2;

  void check(std::uint8_t sent_ecn, std::uint8_t reported_ecn);
  [[nodiscard]] std::uint8_t gap_to(std::uint8_t ace) const;
  [[nodiscard]] bool is_stale(const Segment& segment, unsigned step) const;

  bool join_ended_ = false;  ///< true if end_join() has stopped the marking of packets, until the next join()
  bool agreed_ = false;
  bool intact_ = true;
  bool zeroed_ = false;  ///< true if the path clears the peer's ACE field, so that its counts mean nothing
  bool answer_due_ = false;
  bool last_marked_ = false;  ///< true if the newest data segment arrived with CE
  bool timed_ = false;        ///< true if ts_value_ is valid
  bool acks_due_ = false;
  std::uint16_t syn_ecn_ = 0;                ///< ECN field of the peer's SYN or SYN-ACK
  std::uint8_t received_ = first_count;      ///< CE packets received (r.cep), modulo 256
  std::uint8_t acknowledged_ = first_count;  ///< last ACE field received from the peer (s.cep), modulo 8
  std::uint8_t unreported_ = 0;              ///< CE packets received since the field was last sent; stays at 255
  std::uint32_t ts_value_ = 0;               ///< timestamp of the segment whose ACE field was last processed
  float share_ = 0;                          ///< moving average of the share of marked packets

  std::uint8_t reported_ = 0;    ///< ACE count that the proxy last sent to the other host in the peer's name, modulo 8
  std::uint8_t gap_ = 0;         ///< CE packets that the peer must still count until its count equals reported_
  std::uint8_t passed_ = 0;      ///< newest ACE field of the peer that pass() has processed
  std::uint8_t own_ = 0;         ///< number of marks set by the proxy (mark_own()) that may still arrive at the peer
  std::uint16_t incapable_ = 0;  ///< number of consecutive data packets that passed and were not ECN-capable
  /// Number of marks set by the proxy (mark_own()) that marked() must subtract from its result.
  std::uint8_t hidden_ = 0;
  std::uint8_t asked_ = 0;  ///< number of times that the peer was asked again for its count since join()
  /// True if pass() has processed a segment, so that passed_, passed_ack_ and passed_ts_ are valid.
  bool any_passed_ = false;
  SeqNum passed_ack_;  ///< newest acknowledgement number that pass() has processed
  std::uint32_t passed_ts_ = 0;
  SeqNum own_end_;  ///< sequence number after the newest packet that the proxy has marked (mark_own())
  Instant not_before_{};
  Instant ask_again_ = never;
};

}  // namespace sluice::tcp
