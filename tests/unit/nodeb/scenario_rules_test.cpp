// Tests of the SMVS rules that depend on the link: a scenario that violates them still runs and gets a warning.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "emulator/scenario/plan.hpp"

namespace sluice::emulator {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// The warnings about such rules; those that hold for every link are not among them.
std::vector<std::string> about_links(const config::Loaded<Plan>& plan) {
  EXPECT_TRUE(plan) << config::to_string(plan.errors);
  std::vector<std::string> found;
  for (const config::Error& warning : plan.warnings) {
    if (warning.expected == "Ts < Bmax/b̄" || warning.expected == "Ts < Tb/2") found.push_back(warning.to_string());
  }
  return found;
}

std::vector<std::string> about_links_of(const std::string& paper) {
  return about_links(load_plan(SLUICE_SOURCE_DIR "/configs/papers/" + paper + ".yaml"));
}

/// A step of 20 ms, and 100 frames of 40 bytes: a full buffer lasts as long as that at 1.6 Mb/s.
std::string cell(const std::string& channel, const std::string& more = "") {
  return "modes: [smvs]\n"
         "cell: {ues: [{address: 10.45.0.2, frame: 40B, buffer: 100 frames, channel: " +
         channel + "}" + more +
         "]}\n"
         "smvs: {law: proxy, parameters: {step: 20ms, delta: 45, reference: 20 frames}}\n";
}

std::vector<std::string> about(const std::string& text) {
  return about_links(parse_plan(text, "s.yaml"));
}

TEST(ScenarioRules, Figure13BreaksTheRuleOfTheStepAtItsFirstPointOnly) {
  EXPECT_THAT(about_links_of("smvs-fig13"),
              ElementsAre(HasSubstr("smvs.parameters.step, expected Ts < Bmax/b̄, got Ts = 0.2 s ≥ 0.172414 s")));
}

TEST(ScenarioRules, Figure11ViolatesNoRule) {
  EXPECT_THAT(about_links_of("smvs-fig11"), IsEmpty());
}

TEST(ScenarioRules, AFullBufferLastsLongerThanAStep) {
  EXPECT_THAT(about(cell("{type: constant, rate: 1.5Mb/s}")), IsEmpty());
  EXPECT_THAT(about(cell("{type: constant, rate: 1.7Mb/s}")),
              ElementsAre(HasSubstr("s.yaml:3:33: smvs.parameters.step, expected Ts < Bmax/b̄")));
  EXPECT_THAT(about(cell("{type: generated, model: {mean: 1.7Mb/s}}")), ElementsAre(HasSubstr("Ts < Bmax/b̄")));
}

TEST(ScenarioRules, RulesUseTheShareOfEachUeInACell) {
  EXPECT_THAT(about(cell("{type: constant, rate: 1.7Mb/s}",
                         ", {address: 10.45.0.3, channel: {type: constant, rate: 1.7Mb/s}}")),
              IsEmpty());
}

TEST(ScenarioRules, TheRateVariesMoreSlowlyThanItIsSampled) {
  EXPECT_THAT(about(cell("{type: piecewise, min: 1Mb/s, max: 2Mb/s, period: 41ms}")), IsEmpty());
  EXPECT_THAT(about(cell("{type: piecewise, min: 1Mb/s, max: 2Mb/s, period: 40ms}")),
              ElementsAre(HasSubstr("expected Ts < Tb/2, got Ts = 0.02 s ≥ 0.02 s")));
}

/// Tb is the coherence time, 0.423 / fd: 76 ms at 3 km/h, 38 ms at 6 and 23 ms at 10 on a carrier of 2 GHz.
TEST(ScenarioRules, AFadingLinkIsSampledTwiceInItsCoherenceTime) {
  for (const std::string type : {"hsdpa, radio: ", "evdo, evdo: ", "ofdma, ofdma: ", "generated, model: "}) {
    const auto at = [&type](const std::string& speed) {
      return about(cell("{type: " + type + "{speed: " + speed + "}}"));
    };
    SCOPED_TRACE(type);
    EXPECT_THAT(at("3km/h"), Not(testing::Contains(HasSubstr("Ts < Tb/2"))));
    EXPECT_THAT(at("10km/h"), testing::Contains(HasSubstr("expected Ts < Tb/2, got Ts = 0.02 s ≥ 0.0114")));
  }
  EXPECT_THAT(about(cell("{type: clamp, slots: {speed: 36km/h}}")), ElementsAre(HasSubstr("Ts = 0.02 s ≥ 0.0035")));
  EXPECT_THAT(about(cell("{type: clamp, slots: {speed: 0.36km/h}}")), IsEmpty());
  EXPECT_THAT(about(cell("{type: hsdpa, radio: {speed: 30km/h, fading: false}}")), IsEmpty());
}

TEST(ScenarioRules, AControllerWithoutStepsViolatesNoRule) {
  std::string text = cell("{type: constant, rate: 10Mb/s}");
  EXPECT_THAT(about(text), testing::SizeIs(1));
  text.replace(text.find("law: proxy"), 10, "law: acks");
  EXPECT_THAT(about(text), IsEmpty()) << "by acknowledgements, without reports";
  text.replace(text.find("modes: [smvs]"), 13, "modes: [i-tcp]");
  EXPECT_THAT(about(text), IsEmpty());
}

/// The errors of the smallest scenario with further keys, of which `hop` are of the hop to the Node-B.
std::string refused(const std::string& hop, const std::string& rest = "", const std::string& ue = "") {
  return config::to_string(parse_plan("cell: {ues: [{address: 10.45.0.2, " + ue +
                                          "channel: {type: constant, rate: 5Mb/s}}]}\nproxy_nodeb: {delay: 5ms" + hop +
                                          "}\n" + rest,
                                      "s.yaml")
                               .errors);
}

TEST(ScenarioRules, PathKeysAreChecked) {
  EXPECT_EQ(
      refused(", policer: {rate: 1Mb/s, burst: 3kB}, steps: [{at: 1s, extra: 5ms}, {at: 1s, extra: 1ms, way: up}]"),
      "");
  EXPECT_THAT(refused(", policer: {burst: 100B}"), HasSubstr("proxy_nodeb.policer.burst"));
  EXPECT_THAT(refused(", policer: {rate: 0b/s}"), HasSubstr("proxy_nodeb.policer.rate"));
  EXPECT_THAT(refused(", steps: [{at: 2s, extra: 5ms}, {at: 1s, extra: 1ms}]"),
              HasSubstr("proxy_nodeb.steps, expected the order of time"));
  EXPECT_THAT(refused(", steps: [{extra: 5ms}]"), HasSubstr("at"));
}

TEST(ScenarioRules, ReferencedServersAndDevicesMustExist) {
  EXPECT_EQ(refused("", "server_tcp: [{congestion: bbr}]\nsecond_hops: [{rate: 1Mb/s}]\n"), "");
  EXPECT_THAT(refused("", "server_tcp: [{congestion: bbr}, {congestion: bbr}]\n"),
              HasSubstr("server_tcp, expected none, or one for each of 1 servers"));
  EXPECT_THAT(refused("", "second_hops: [{ue: 1}]\n"), HasSubstr("second_hops, expected a ue below 1"));
  EXPECT_THAT(refused("", "second_hops: [{server: 2}]\n"), HasSubstr("second_hops, expected a server below 1"));
  EXPECT_THAT(refused("", "apps: [{type: bulk, address: 1}]\n"),
              HasSubstr("apps, expected an address of at most 0, got 1"));
  EXPECT_THAT(refused("", "apps: [{type: bulk, address: 1}]\n", "more_addresses: [\"2001:db8::1\"], "),
              HasSubstr("one address family"));
}

TEST(ScenarioRules, LossRunsMustAllowTheLossRate) {
  EXPECT_EQ(refused("", "", "loss: 0.5, loss_run: 4, "), "");
  EXPECT_THAT(refused("", "", "loss: 0.9, loss_run: 4, "),
              HasSubstr("loss, expected at most loss_run / (loss_run + 1)"));
  EXPECT_EQ(refused("", "", "loss: 0.9, "), "");
}

}  // namespace
}  // namespace sluice::emulator
