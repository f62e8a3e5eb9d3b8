// Keys of the applications that the built-in UEs run: bulk, web, request, video, game and so on. describe() of the
// scenario calls this for each entry of `apps`. A key is accepted only for the types that use it.

#include <algorithm>
#include <functional>

#include "emulator/scenario/describe.hpp"

namespace sluice::emulator {
namespace {

using config::Choice;
using config::Scalar;
using config::Section;
using namespace std::chrono_literals;

constexpr Choice<AppType> app_types[] = {
    {"bulk", AppType::bulk, "one long transfer per connection"},
    {"web", AppType::web, "pages of small objects, think time between them"},
    {"request", AppType::request, "requests on one connection, each some time after the last answer"},
    {"telnet", AppType::telnet, "a small answer every interval, on one connection"},
    {"on-off", AppType::on_off, "a small answer every interval within periods of activity, on one connection"},
    {"flows", AppType::flows, "pages at random instants, each of several connections of random size"},
    {"video", AppType::video,
     "segments of a video on one connection; the bit rate follows the player's buffer (BBA-0)"},
    {"game", AppType::game, "datagrams at fixed intervals in both directions"},
    {"responsiveness", AppType::responsiveness,
     "draft-ietf-ippm-responsiveness without TLS: small requests on connections with endless downloads, and as many on "
     "new connections"}};
constexpr Choice<SizeKind> size_kinds[] = {{"fixed", SizeKind::fixed, "min"},
                                           {"uniform", SizeKind::uniform, "uniform from min to max"},
                                           {"triangular", SizeKind::triangular, "triangular from min to max"},
                                           {"pareto", SizeKind::pareto, "Pareto from min, truncated at max"}};
constexpr Choice<Direction> directions[] = {{"download", Direction::download}, {"upload", Direction::upload}};

/// Declares the configuration keys of applications that fetch repeatedly.
void describe_streams(Section& s, AppSpec& app) {
  const bool sized = app.type == AppType::request || app.type == AppType::telnet || app.type == AppType::on_off ||
                     app.type == AppType::flows;
  s.when(sized, "type is request, telnet, on-off or flows",
         [&] { s.section("sizes", app.sizes, "sizes of the fetched objects"); });
  const bool clocked =
      app.type == AppType::telnet || app.type == AppType::on_off || app.type == AppType::responsiveness;
  s.when(clocked, "type is telnet, on-off or responsiveness", [&] {
    s.value("interval", app.interval, {1ms, 1h},
            "time between requests, whether answered or not; type responsiveness: on each kind of connection");
  });
  s.when(app.type == AppType::on_off, "type is on-off", [&] {
    s.value("on", app.on, {1ms, 1h}, "mean length of periods of activity, exponential");
    s.value("off", app.off, {1ms, 1h}, "mean length of pauses, exponential");
  });
  s.when(app.type == AppType::flows, "type is flows", [&] {
    s.value("arrivals", app.arrivals, {1ms, 1h}, "mean time between pages, exponential");
    s.value("objects", app.objects_mean, {1, 1000},
            "mean number of connections a page, exponential and rounded up; 1: one");
    s.value("gap", app.gap, {0s, 1h}, "mean time between the connections of a page, exponential");
    s.value("regular", app.regular,
            "pages at equal intervals instead of random instants, the first within one interval");
  });
}

/// Declares the configuration keys of applications whose quality a user notices: responsiveness, game and video.
void describe_users(Section& s, AppSpec& app) {
  s.when(app.type == AppType::responsiveness, "type is responsiveness", [&] {
    s.value("loaded", app.loaded, "existing connections carry endless downloads; false: they carry only requests");
  });
  s.when(app.type == AppType::game, "type is game", [&] {
    s.value("tick", app.tick, {1ms, 1min}, "interval of datagrams in each direction");
    s.value("down", app.down, {Bytes(24), Bytes(1400)}, "payload of a datagram to the UE");
    s.value("up", app.up, {Bytes(24), Bytes(1400)}, "payload of a datagram from the UE");
    s.value("exponential", app.exponential,
            "intervals of datagrams to the UE are exponential with mean tick; false: they are constant");
  });
  s.when(app.type == AppType::video, "type is video", [&] {
    s.list("ladder", app.ladder, {1, 64}, "available bit rates, increasing");
    s.value("segment", app.segment, {100ms, 1min}, "playing time of a segment");
    s.value("buffer", app.buffer, {200ms, 1h},
            "size of the player's buffer as playing time; above 0.9 of it the highest rate is chosen");
    s.value("reservoir", app.reservoir, {0s, 1h}, "buffer level below which the lowest rate is chosen");
    s.value("length", app.length, {100ms, 24h}, "length of a video, in whole segments; not set: endless");
    s.value("pause", app.pause, {0s, 1h}, "pause from the end of a video to the next one");
    s.check(std::adjacent_find(app.ladder.begin(), app.ladder.end(), std::greater_equal<>()) == app.ladder.end(),
            "ladder", "rising bit rates", "others");
    s.check(app.buffer >= 10 * app.segment, "buffer", "ten segments or more", Scalar<Duration>::format(app.buffer));
    s.check(app.reservoir < app.buffer * 9 / 10, "reservoir", "less than 0.9 of the buffer",
            Scalar<Duration>::format(app.reservoir));
  });
}

}  // namespace

void describe(Section& s, AppSpec& app) {
  s.required().choice("type", app.type, app_types, "kind of application");
  s.value("ue", app.ue, {0, 999}, "which UE, counted from 0");
  s.value("ues", app.ues, {0, 1000}, "number of UEs, from that UE on, that run this application; 0: none");
  s.value("server", app.server, {0, 999}, "which server, counted from 0");
  s.value("address", app.address, {0, 16}, "index of the UE's address: 0 is address, further ones are more_addresses");
  s.value("start", app.start, {0s, 24h}, "start of the application");
  s.when(app.type == AppType::bulk || app.type == AppType::flows, "type is bulk or flows",
         [&] { s.choice("direction", app.direction, directions, "direction of the transfer, seen from the UE"); });
  s.when(app.type == AppType::bulk || app.type == AppType::flows, "type is bulk or flows", [&] {
    s.value("stop", app.stop, {0s, 24h},
            "time at which a bulk transfer is aborted, or after which no page of flows begins; not set: never");
  });
  s.when(app.type == AppType::bulk, "type is bulk", [&] {
    std::optional<Bytes> size;
    if (app.size != UINT64_MAX) size = Bytes(app.size);
    s.value("size", size, {Bytes(1), Bytes::max()}, "size of the transfer; not set: endless");
    app.size = size ? static_cast<std::uint64_t>(size->count()) : UINT64_MAX;
  });
  s.when(app.type == AppType::bulk || app.type == AppType::responsiveness, "type is bulk or responsiveness", [&] {
    s.value("connections", app.connections, {1, 10'000},
            "parallel connections; type responsiveness: connections that persist");
  });
  s.when(app.type == AppType::web || app.type == AppType::request, "type is web or request", [&] {
    s.value("think_time", app.think_time, {0s, 1h}, "mean time between pages or requests, exponential");
  });
  describe_streams(s, app);
  describe_users(s, app);
  s.when(app.type == AppType::web, "type is web", [&] {
    s.value("objects_min", app.objects_min, {1, 10'000}, "fewest objects per page (uniform distribution)");
    s.value("objects_max", app.objects_max, {1, 10'000}, "most objects per page");
    s.value("object_min", app.object_min, {Bytes(1), Bytes(1 << 30)}, "smallest object (Pareto distribution)");
    s.value("object_max", app.object_max, {Bytes(1), Bytes(1 << 30)}, "largest object; larger ones are truncated");
    s.value("object_shape", app.object_shape, {0.1, 100}, "Pareto's shape");
    s.check(app.objects_min <= app.objects_max, "objects_min", "at most objects_max", std::to_string(app.objects_min));
    s.check(app.object_min <= app.object_max, "object_min", "at most object_max",
            Scalar<Bytes>::format(app.object_min));
  });
}

void describe(Section& s, SizeDistribution& size) {
  s.choice("kind", size.kind, size_kinds, "kind of distribution");
  s.value("min", size.min, {Bytes(1), Bytes(1 << 30)}, "smallest");
  s.value("max", size.max, {Bytes(1), Bytes(1 << 30)}, "largest");
  s.when(size.kind == SizeKind::pareto, "kind is pareto", [&] {
    s.value("shape", size.shape, {0.1, 100}, "Pareto's");
  });
  s.check(size.kind == SizeKind::fixed || size.min <= size.max, "min", "at most max", Scalar<Bytes>::format(size.min));
}

}  // namespace sluice::emulator
