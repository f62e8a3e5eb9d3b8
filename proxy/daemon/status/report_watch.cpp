#include "proxy/daemon/status/report_watch.hpp"

namespace sluice::proxy {

ReportWatch::Event ReportWatch::look(bool needed, std::uint64_t accepted, Instant now) {
  if (!needed) {
    *this = {};
    return Event::none;
  }
  if (quiet_since_ == never || accepted != accepted_) {
    silence_ = quiet_since_ == never ? Duration{} : now - quiet_since_;
    quiet_since_ = now;
    accepted_ = accepted;
    const bool was_reported = silence_reported_;
    silence_reported_ = false;
    return was_reported ? Event::received_again : Event::none;
  }
  silence_ = now - quiet_since_;
  if (silence_reported_ || silence_ < limit) return Event::none;
  silence_reported_ = true;
  return Event::silent;
}

}  // namespace sluice::proxy
