// Tests of the programs sluice and sluicectl as processes: start, commands, signals and errors.
#include "tests/unit/runtime/program.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/udp.hpp>
#include <csignal>
#include <fstream>
#include <functional>
#include <memory>
#include <sstream>
#include <thread>

#include "control/feedback/session.hpp"
#include "proxy/ops/admin/client.hpp"
#include "proxy/yaml/renamed.hpp"

namespace sluice {
namespace {

using namespace std::chrono_literals;
using admin::Json;
using boost::asio::ip::udp;
using test::Finished;
using test::Program;
using test::run;
using test::TemporaryFolder;
using testing::HasSubstr;
namespace feedback = control::feedback;

const std::string sluice_program = SLUICE_PROGRAM;
const std::string sluicectl_program = SLUICECTL_PROGRAM;

// Small, so that many of these run beside each other; no device needs root.
constexpr const char* common = "shards: { poll: adaptive }\npool: { buffers: 2048 }\n";

/// Configuration with two memif ports, below `folder`.
std::string memif_config(const TemporaryFolder& folder, const std::string& more) {
  const std::string path = folder.path().string();
  return std::string(common) + "ports:\n  radio: { device: \"net_memif0,role=server,id=0,socket=" + path +
         "/radio.sock\", receive_descriptors: 256, transmit_descriptors: 256 }\n  core: { device: "
         "\"net_memif1,role=server,id=0,socket=" +
         path + "/core.sock\", receive_descriptors: 256, transmit_descriptors: 256 }\nadmin: { socket: " + path +
         "/admin.sock }\n" + more;
}

bool eventually(const std::function<bool()>& condition) {
  for (int i = 0; i < 6000; ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(10ms);
  }
  return false;
}

/// A running sluice.
class Running {
 public:
  explicit Running(const std::string& more = "")
      : program_(std::make_unique<Program>(
            sluice_program, std::vector<std::string>{folder.write("s.yaml", memif_config(folder, more))})) {
    const bool up = eventually([this] {
      try {
        return ask("version").ok;
      } catch (const std::runtime_error&) {
        return !program_->running();
      }
    });
    EXPECT_TRUE(up && program_->running()) << program_->err();
  }
  [[nodiscard]] admin::Answer ask(const std::string& line) const { return admin::ask(socket(), line, 10s); }
  [[nodiscard]] std::string socket() const { return (folder.path() / "admin.sock").string(); }
  [[nodiscard]] std::uint64_t counter(const std::string& name) const {
    return ask("counters").value.at(name).get<std::uint64_t>();
  }
  Program& program() { return *program_; }

  TemporaryFolder folder;

 private:
  std::unique_ptr<Program> program_;
};

TEST(SluiceCommandLine, ChecksAConfiguration) {
  const TemporaryFolder folder;
  const std::string good = folder.write("good.yaml", memif_config(folder, ""));
  const Finished ok = run(sluice_program, {"--check", good});
  EXPECT_EQ(ok.code, 0);
  EXPECT_EQ(ok.out.substr(ok.out.size() - 3), "OK\n");
  const std::string bad = folder.write("bad.yaml", "mod: smvs\n" + memif_config(folder, "tcp: { min_rto: 1 }\n"));
  const Finished refused = run(sluice_program, {"--check", bad});
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.err, HasSubstr(bad + ":1:1: unknown key 'mod', expected 'mode'\n"));
  EXPECT_THAT(refused.err, HasSubstr(bad + ":8:17: tcp.min_rto, expected a duration"));
  EXPECT_EQ(run(sluice_program, {bad}).code, 2) << "nor is it run";
}

TEST(SluiceCommandLine, RefusesUnknownArguments) {
  EXPECT_EQ(run(sluice_program, {}).code, 2);
  EXPECT_EQ(run(sluice_program, {"--nonsense"}).code, 2);
  EXPECT_EQ(run(sluice_program, {"/nonexistent.yaml"}).code, 2);
  EXPECT_EQ(run(sluice_program, {"--check", "--print-config", "x"}).code, 2);
  EXPECT_EQ(run(sluice_program, {"--help"}).code, 0);
  EXPECT_EQ(run(sluice_program, {"--version"}).code, 0);
}

TEST(SluiceCommandLine, PrintsConfigurationAndReference) {
  const TemporaryFolder folder;
  const Finished printed = run(sluice_program, {"--print-config", folder.write("s.yaml", memif_config(folder, ""))});
  EXPECT_EQ(printed.code, 0);
  const Finished again = run(sluice_program, {"--print-config", folder.write("printed.yaml", printed.out)});
  EXPECT_EQ(again.out, printed.out);
  EXPECT_THAT(run(sluice_program, {"--help-config"}).out, HasSubstr("| `relay_buffer` |"));
}

std::string file_of(const std::string& name) {
  std::stringstream text;
  text << std::ifstream(std::string(SLUICE_SOURCE_DIR) + "/" + name).rdbuf();
  return text.str();
}

TEST(SluiceCommandLine, PrintsTheReferencesOfTheRepository) {
  EXPECT_EQ(run(sluice_program, {"--help-config"}).out, file_of("proxy/config/REFERENCE.md"));
  EXPECT_EQ(run(sluice_program, {"--help-words"}).out, file_of("proxy/daemon/status/WORDS.md"));
}

TEST(SluiceCommandLine, PrintsItsHelpAndManualPages) {
  EXPECT_THAT(run(sluice_program, {}).err, HasSubstr("a configuration file is needed; see --help"));
  const std::string help = run(sluice_program, {"--help"}).out;
  for (const char* part : {"--check", "--system", "--user", "--print-config", "--show-secrets", "--help-config",
                           "--help-words", "--manual", "--manual-config", "--manual-words", "--completion",
                           "--core-dumps", "configuration file (YAML)", "Exit codes: 0 ended", "Signals: SIGTERM"})
    EXPECT_THAT(help, HasSubstr(part));
  const std::string page = run(sluice_program, {"--manual"}).out;
  for (const char* part : {".TH", "sluice.service", "sluice\\-words", "nodeb", "print\\-config", "SIGTERM"})
    EXPECT_THAT(page, HasSubstr(part));
  const std::string file = run(sluice_program, {"--manual-config"}).out;
  for (const char* part : {".TH", "relay_buffer", "${NAME}", "SEE ALSO"}) EXPECT_THAT(file, HasSubstr(part));
  const std::string words = run(sluice_program, {"--manual-words"}).out;
  for (const char* part : {".TH", "flows_split", "Reasons", "The path", "SEE ALSO"})
    EXPECT_THAT(words, HasSubstr(part));
  EXPECT_EQ(words.find("relay_buffer"), std::string::npos) << "keys have a page of their own";
  EXPECT_EQ(run(sluice_program, {"--version"}).out.substr(0, 2), "0.");
  EXPECT_THAT(run(sluice_program, {"--completion"}).out, HasSubstr("complete "));
  EXPECT_EQ(run(sluice_program, {"--completion=csh"}).code, 2);
}

TEST(SluiceCommandLine, SecretsArePrintedOnlyOnRequest) {
  const TemporaryFolder folder;
  const std::string file =
      folder.write("s.yaml", memif_config(folder,
                                          "feedback: { listen: 127.0.0.1:0, keys: [{ id: 1, secret: "
                                          "00112233445566778899aabbccddeeff }] }\n"));
  EXPECT_THAT(run(sluice_program, {"--print-config", file}).out, testing::Not(HasSubstr("00112233445566778899")));
  EXPECT_THAT(run(sluice_program, {"--print-config", "--show-secrets", file}).out, HasSubstr("00112233445566778899"));
  EXPECT_EQ(run(sluice_program, {"--show-secrets", file}).code, 2) << "it needs --print-config";
}

TEST(SluiceCommandLine, ACheckStatesThePacketMemory) {
  const TemporaryFolder folder;
  const Finished checked = run(sluice_program, {"--check", folder.write("s.yaml", memif_config(folder, ""))});
  EXPECT_EQ(checked.code, 0) << checked.err;
  EXPECT_THAT(checked.out,
              testing::ContainsRegex("packet memory: 2048 buffers; connections of a shard may hold and advertise "
                                     "[0-9]+ MB, those of one UE [0-9]+ MB, one alone [0-9]+ MB each way\nOK\n"));
}

TEST(SluicectlCommandLine, PrintsItsHelpManualPageAndSchema) {
  EXPECT_THAT(run(sluicectl_program, {}).err, HasSubstr("a command is needed, such as status; see --help"));
  const std::string help = run(sluicectl_program, {"--help"}).out;
  for (const char* part :
       {"--socket", "SLUICE_SOCKET", "--timeout", "--json", "--wide", "--manual", "--schema", "--completion",
        "drain [off|status], ", "watch [--interval SECONDS]", "Exit codes: 0 answered"})
    EXPECT_THAT(help, HasSubstr(part));
  const std::string page = run(sluicectl_program, {"--manual"}).out;
  for (const char* part : {".TH", "admin.group", "replay FILE", "sluice.yaml"}) EXPECT_THAT(page, HasSubstr(part));
  const Finished schema = run(sluicectl_program, {"--schema"});
  EXPECT_TRUE(Json::accept(schema.out));
  EXPECT_THAT(schema.out, HasSubstr("\"bearers\""));
  const std::string completion = run(sluicectl_program, {"--completion"}).out;
  EXPECT_THAT(completion, HasSubstr("smvs")) << "modes are completed";
  for (const char* seconds : {"0", "-1", "4000", "x"})
    EXPECT_EQ(run(sluicectl_program, {"--timeout", seconds, "status"}).code, 2) << seconds;
  EXPECT_EQ(run(sluicectl_program, {"replay", "/nonexistent"}).code, 1);
  EXPECT_EQ(run(sluicectl_program, {"replay"}).code, 2);
}

TEST(SluiceStart, APortErrorIsReported) {
  const TemporaryFolder folder;
  const std::string config =
      std::string(common) +
      "ports:\n  radio: { device: \"net_af_packet0,iface=nosuchif\", receive_descriptors: 256 }\n"
      "  core: { device: net_null0, receive_descriptors: 256 }\n";
  const Finished result = run(sluice_program, {folder.write("s.yaml", config)});
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.err, HasSubstr("ports.radio: "));
  EXPECT_THAT(result.err, HasSubstr("nosuchif"));
}

TEST(SluiceStart, AnAddressInUseIsReported) {
  boost::asio::io_context context;
  const udp::socket taken(context, udp::endpoint(boost::asio::ip::address_v4::loopback(), 0));
  const TemporaryFolder folder;
  const std::string listen = "127.0.0.1:" + std::to_string(taken.local_endpoint().port());
  const Finished result = run(
      sluice_program, {folder.write("s.yaml", memif_config(folder, "feedback: { listen: \"" + listen +
                                                                       "\", keys: [{ id: 1, secret: "
                                                                       "00112233445566778899aabbccddeeff }] }\n"))});
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.err, HasSubstr("feedback.listen " + listen + " cannot be bound: Address already in use"));
}

TEST(SluiceRunning, AnswersAndStopsOnSigterm) {
  Running sluice("mode: bypass\n");
  const Json status = sluice.ask("status").value;
  EXPECT_EQ(status["mode"], "bypass");
  EXPECT_EQ(status["flows"], 0);
  EXPECT_EQ(status["packet_buffers"]["total"], 2048);
  EXPECT_EQ(status["ports"]["radio"]["device"], "net_memif0");
  EXPECT_EQ(sluice.counter("proxy.received_radio"), 0U);
  EXPECT_EQ(sluice.ask("flows").value, Json::array());
  EXPECT_EQ(sluice.ask("bearers 1000").value, Json::array());
  EXPECT_FALSE(sluice.ask("flows 1001").ok);
  EXPECT_FALSE(sluice.ask("flows x").ok);
  EXPECT_THAT(sluice.ask("config").value.get<std::string>(), HasSubstr("mode: bypass\n"));
  EXPECT_TRUE(sluice.ask("ports").ok);
  EXPECT_EQ(sluice.ask("shards").value.size(), 1U);
  sluice.program().signal(SIGTERM);
  EXPECT_EQ(sluice.program().wait(), 0) << sluice.program().err();
  EXPECT_THAT(sluice.program().err(), HasSubstr("stopping: SIGTERM"));
  EXPECT_FALSE(std::filesystem::exists(sluice.socket()));
}

/// The pipe is full before the program begins, and stays so.
TEST(SluiceRunning, AnswersAndStopsWithoutAReaderOfItsLog) {
  const TemporaryFolder folder;
  const std::string pipe = (folder.path() / "log").string();
  ASSERT_EQ(mkfifo(pipe.c_str(), S_IRUSR | S_IWUSR), 0);
  const int end = open(pipe.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC);
  const std::string filling(4096, 'x');
  while (write(end, filling.data(), filling.size()) > 0) continue;
  Program program("/bin/sh", {"-c", R"(exec "$0" "$1" 2>"$2")", sluice_program,
                              folder.write("s.yaml", memif_config(folder, "mode: bypass\n")), pipe});
  const std::string socket = (folder.path() / "admin.sock").string();
  EXPECT_TRUE(eventually([&] {
    try {
      return admin::ask(socket, "version", 10s).ok;
    } catch (const std::runtime_error&) {
      return !program.running();
    }
  }));
  ASSERT_TRUE(program.running());
  EXPECT_EQ(admin::ask(socket, "counters log.lines_lost", 10s).value, 0) << "they wait";
  program.signal(SIGHUP);
  program.signal(SIGTERM);
  EXPECT_EQ(program.wait(), 0);
  close(end);
}

TEST(SluiceRunning, ContinuesWhenAnotherProgramTruncatesItsFiles) {
  const TemporaryFolder files;
  const auto state = files.path() / "state";
  const auto frames = files.path() / "last-frames";
  Running sluice("mode: bypass\nstate: { file: " + state.string() + " }\nlast_frames: { file: " + frames.string() +
                 ", size: 1MiB }\n");
  EXPECT_EQ(sluice.counter("files.lost"), 0U);
  std::filesystem::resize_file(state, 0);
  std::filesystem::resize_file(frames, 0);
  EXPECT_TRUE(eventually([&] { return !sluice.program().running() || sluice.counter("files.lost") == 2; }));
  ASSERT_TRUE(sluice.program().running());
  EXPECT_THAT(sluice.program().err(), HasSubstr("state.file " + state.string() + " was truncated"));
  EXPECT_THAT(sluice.program().err(), HasSubstr("last_frames.file " + frames.string() + " was truncated"));
  sluice.program().signal(SIGTERM);
  EXPECT_EQ(sluice.program().wait(), 0) << sluice.program().err();
}

TEST(SluiceRunning, KnowsHowTheLastRunEnded) {
  const TemporaryFolder files;
  const std::string state = "mode: bypass\nstate: { file: " + (files.path() / "state").string() + " }\n";
  {
    Running first(state);
    EXPECT_EQ(first.ask("status").value["last_run"], nullptr);
    first.program().signal(SIGKILL);
    EXPECT_EQ(first.program().wait(), -SIGKILL);
  }
  {
    Running second(state);
    EXPECT_EQ(second.ask("status").value["last_run"]["ended"], "killed");
    EXPECT_THAT(second.program().err(), HasSubstr("the last run: it was killed or it crashed"));
    second.program().signal(SIGTERM);
    EXPECT_EQ(second.program().wait(), 0) << second.program().err();
  }
  {
    Running third(state);
    EXPECT_EQ(third.ask("status").value["last_run"]["ended"], "sigterm");
    EXPECT_THAT(third.program().err(), HasSubstr("the last run: SIGTERM ended it"));
    EXPECT_TRUE(third.ask("stop").ok);
    EXPECT_EQ(third.program().wait(), 0) << third.program().err();
  }
  const Running fourth(state);
  EXPECT_EQ(fourth.ask("status").value["last_run"]["ended"], "command");
}

TEST(SluiceRunning, StopsOnCommand) {
  Running sluice;
  const Finished stop = run(sluicectl_program, {"--socket", sluice.socket(), "stop"});
  EXPECT_EQ(stop.code, 0) << stop.err;
  EXPECT_EQ(stop.out, "stopping\n");
  EXPECT_EQ(sluice.program().wait(), 0) << sluice.program().err();
}

TEST(SluiceRunning, TheOperatorCommandsWork) {
  Running sluice;
  const Finished table = run(sluicectl_program, {"--socket", sluice.socket(), "status"});
  EXPECT_EQ(table.code, 0);
  EXPECT_THAT(table.out, testing::ContainsRegex("mode +smvs\n"));
  const Finished json = run(sluicectl_program, {"--socket", sluice.socket(), "--json", "status"});
  EXPECT_EQ(Json::parse(json.out)["mode"], "smvs");
  const Finished behind = run(sluicectl_program, {"--socket", sluice.socket(), "counters", "--json", "optimised"});
  EXPECT_TRUE(Json::parse(behind.out).is_number()) << behind.out;
  const Finished unknown = run(sluicectl_program, {"--socket", sluice.socket(), "nonsense"});
  EXPECT_EQ(unknown.code, 1);
  EXPECT_THAT(unknown.err, HasSubstr("unknown command 'nonsense'"));
  const Finished renamed = run(sluicectl_program, {"--socket", sluice.socket(), "take-up", "all"});
  EXPECT_EQ(renamed.code, 1);
  EXPECT_THAT(renamed.err, HasSubstr("it is called split-again now"));
  EXPECT_EQ(run(sluicectl_program, {"--socket", "/nonexistent", "status"}).code, 1);
  EXPECT_EQ(run(sluicectl_program, {}).code, 2);
}

TEST(SluiceRunning, SluicectlRepeatsCommands) {
  Running sluice;
  const auto ask = [&](std::vector<std::string> words) {
    words.insert(words.begin(), {"--socket", sluice.socket()});
    return run(sluicectl_program, words);
  };
  EXPECT_EQ(ask({"watch", "--count", "2", "--interval", "0.1", "counters", "flows_split"}).out, "0\n0\n");
  const Finished top = ask({"top", "--json", "--count", "1", "--interval", "0.1"});
  EXPECT_EQ(top.code, 0) << top.err;
  EXPECT_TRUE(Json::parse(top.out).contains("bearers")) << top.out;
  EXPECT_EQ(ask({"top", "--count", "1", "--interval", "0.1", "--by", "queue"}).code, 0);
  for (const std::vector<std::string>& wrong :
       {std::vector<std::string>{"top", "--by", "name"}, {"top", "more"}, {"top", "--interval", "0"}, {"watch"}}) {
    const Finished refused = ask(wrong);
    EXPECT_EQ(refused.code, 2) << wrong.back();
    EXPECT_THAT(refused.err, testing::StartsWith("sluicectl: "));
    EXPECT_EQ(refused.out, "");
  }
  EXPECT_EQ(ask({"modes", "--wide"}).out, ask({"--wide", "modes"}).out) << "also after the command";
}

TEST(SluiceRunning, EveryCommandIsAnswered) {
  Running sluice("mode: i-tcp\n");
  EXPECT_EQ(sluice.ask("version").value, run(sluice_program, {"--version"}).out.substr(0, 5));
  EXPECT_GT(sluice.ask("help").value.size(), 20U);
  const Json status = sluice.ask("status").value;
  EXPECT_EQ(status["captures"], 0);
  EXPECT_EQ(status["traces"], 0);
  EXPECT_EQ(status["shards"], 1);
  EXPECT_EQ(status["fail_open"], "none");
  EXPECT_EQ(status["last_run"], nullptr);
  EXPECT_EQ(sluice.ask("traffic").value, Json::array());
  EXPECT_EQ(sluice.ask("flows --passing").value, Json::array());
  EXPECT_EQ(sluice.ask("exposure").value["samples"], 0);
  EXPECT_EQ(sluice.ask("groups").value.size(), 2U);
  EXPECT_EQ(sluice.ask("shards").value[0]["shard"], 0);
  EXPECT_EQ(sluice.ask("ports").value["core"]["device"], "net_memif1");
  EXPECT_TRUE(sluice.ask("explain flows_split").ok);
  EXPECT_FALSE(sluice.ask("explain").ok);
  EXPECT_TRUE(sluice.ask("counters").value.contains("log.lines_lost"));
  for (const char* limit : {"flows 0", "flows 1 2", "bearers 0", "bearers x", "flows --passing 0"})
    EXPECT_EQ(sluice.ask(limit).value, "the limit is a whole number, 1 to 1000") << limit;
  EXPECT_TRUE(sluice.ask("flows --passing 1000").ok);
  EXPECT_FALSE(sluice.ask("capture --nonsense").ok);
  EXPECT_FALSE(sluice.ask("trace --nonsense").ok);
}

TEST(SluiceRunning, AnOperatorDrainsAndReleases) {
  Running sluice("mode: i-tcp\n");
  const Json drain = sluice.ask("drain").value;
  EXPECT_EQ(drain["draining"], true);
  EXPECT_EQ(drain["still_split"], 0);
  EXPECT_EQ(drain["broken_by_a_stop"], 0);
  for (const auto& [blocker, count] : drain["blocked_by"].items()) EXPECT_EQ(count, 0) << blocker;
  EXPECT_EQ(sluice.ask("drain status").value["draining"], true);
  EXPECT_TRUE(eventually([&] { return sluice.ask("status").value["draining"] == true; }));
  EXPECT_EQ(sluice.ask("drain off").value["draining"], false);
  EXPECT_EQ(sluice.ask("drain sideways").value, "usage: drain, drain off or drain status");
  for (const char* command : {"release", "split-again"}) {
    const std::string word = command;
    EXPECT_FALSE(sluice.ask(word).ok);
    EXPECT_EQ(sluice.ask(word + " somebody").value, "usage: the address of a UE, or all");
    EXPECT_EQ(sluice.ask(word + " 10.45.0.9").value,
              "no split connection of UE 10.45.0.9 is known; bearers lists the UEs");
    EXPECT_TRUE(sluice.ask(word + " all").ok);
  }
}

TEST(SluiceRunning, AnOperatorChangesModeAndLogLevel) {
  Running sluice("mode: i-tcp\n");
  EXPECT_EQ(sluice.ask("mode").value, "i-tcp");
  EXPECT_TRUE(sluice.ask("mode bypass").ok);
  EXPECT_EQ(sluice.ask("status").value["mode"], "bypass");
  EXPECT_FALSE(sluice.ask("mode no-such-mode").ok);
  EXPECT_EQ(sluice.ask("mode").value, "bypass");
  const Json modes = sluice.ask("modes").value;
  ASSERT_GT(modes.size(), 5U);
  for (const Json& mode : modes) EXPECT_EQ(mode["allowed"] == true, mode["why_not"].is_null()) << mode;
  EXPECT_EQ(sluice.ask("log-level").value, Json::parse(R"({"level": "info", "configured": "info"})"));
  EXPECT_EQ(sluice.ask("log-level debug").value, Json::parse(R"({"level": "debug", "configured": "info"})"));
  EXPECT_THAT(sluice.ask("log-level loud").value.get<std::string>(), HasSubstr("unknown log level 'loud', expected"));
  EXPECT_TRUE(sluice.ask("reload").ok);
  EXPECT_EQ(sluice.ask("log-level").value["level"], "info") << "as the file states it";
  EXPECT_EQ(sluice.ask("mode").value, "i-tcp") << "as the file states it";
  EXPECT_EQ(sluice.ask("reload").value, "nothing has changed");
  EXPECT_FALSE(sluice.ask("confirm").ok);
  EXPECT_FALSE(sluice.ask("revert").ok);
}

TEST(SluiceRunning, ASignalReadsTheConfigurationAgain) {
  Running sluice("mode: i-tcp\n");
  static_cast<void>(sluice.folder.write("s.yaml", memif_config(sluice.folder, "mode: bypass\n")));
  sluice.program().signal(SIGHUP);
  EXPECT_TRUE(eventually([&] { return sluice.ask("mode").value == "bypass"; }));
  static_cast<void>(sluice.folder.write("s.yaml", memif_config(sluice.folder, "mode: no-such-mode\n")));
  sluice.program().signal(SIGHUP);
  EXPECT_TRUE(eventually(
      [&] { return sluice.program().err().find("SIGHUP: the configuration stays as it was") != std::string::npos; }));
  EXPECT_EQ(sluice.ask("mode").value, "bypass");
}

TEST(SluiceRunning, TheLogNamesStartPortsAndEnd) {
  Running sluice("mode: bypass\nlogging: { statistics_period: 100ms }\n");
  EXPECT_TRUE(eventually([&] { return sluice.program().err().find("flows=0 bearers=0") != std::string::npos; }));
  sluice.program().signal(SIGINT);
  EXPECT_EQ(sluice.program().wait(), 0);
  const std::string log = sluice.program().err();
  for (const char* part :
       {"port radio: net_memif0 with 1 receive and 1 transmit queue", "port core: net_memif1 with",
        "admin: listening on ", ": mode bypass, 1 shard(s), running", "stopping: SIGINT", "stopped; flows=0"})
    EXPECT_THAT(log, HasSubstr(part));
}

TEST(SluiceRunning, ReturnsOneCounter) {
  Running sluice;
  EXPECT_EQ(sluice.ask("counters flows_split").value, 0U);
  EXPECT_EQ(sluice.ask("counters proxy.flows_split").value, 0U);
  EXPECT_TRUE(sluice.ask("counters steering.dropped").ok);
  EXPECT_EQ(sluice.ask("counters flows_spilt").value, "unknown counter 'flows_spilt'; did you mean flows_split?");
  EXPECT_EQ(sluice.ask("counters nonesuch").value, "unknown counter 'nonesuch'; counters lists all");
}

/// A user of a former name gets the new name, and that name exists.
TEST(SluiceRunning, NamesTheNewNameOfARenamedCounter) {
  Running sluice;
  for (const char* name : {"forward_handover", "forward_followed", "flows_taken_up", "let_go_idle", "let_go_command",
                           "let_go_drain", "let_go_memory", "let_go_switch", "let_go_surprise", "icmp_believed",
                           "icmp_not_believed", "out_of_order_forgotten", "released_forgotten"}) {
    const std::string now(config::renamed_to(name));
    EXPECT_EQ(sluice.ask(std::string("counters proxy.") + name).value,
              std::string("unknown counter '") + name + "'; it is called " + now + " now");
    EXPECT_TRUE(sluice.ask("counters " + now).ok) << now;
  }
}

TEST(SluiceRunning, ASecondProxyDoesNotReplaceTheSocket) {
  Running first;
  const std::string config =
      std::string(common) +
      "ports:\n  radio: { device: net_null0, receive_descriptors: 256 }\n  core: { device: net_null1, "
      "receive_descriptors: 256 }\nadmin: { socket: " +
      first.socket() + " }\n";
  const Finished second = run(sluice_program, {first.folder.write("second.yaml", config)});
  EXPECT_EQ(second.code, 1);
  EXPECT_THAT(second.err, HasSubstr("another program answers on " + first.socket()));
  EXPECT_TRUE(first.ask("status").ok);
}

TEST(SluiceRunning, SighupReopensTheLog) {
  const TemporaryFolder logs;
  const auto log = logs.path() / "log";
  Running sluice("logging: { format: json, file: " + log.string() + " }\n");
  ASSERT_TRUE(eventually([&] { return logs.read("log").find("running") != std::string::npos; }));
  std::filesystem::rename(log, logs.path() / "log.1");
  sluice.program().signal(SIGHUP);
  EXPECT_TRUE(eventually([&] { return logs.read("log").find("SIGHUP") != std::string::npos; }));
  EXPECT_TRUE(sluice.ask("status").ok);
  std::istringstream lines(logs.read("log.1"));
  for (std::string line; std::getline(lines, line);) EXPECT_TRUE(Json::accept(line)) << line;
}

class FeedbackInput : public testing::Test {
 protected:
  FeedbackInput() {
    const auto listen = sluice_.ask("status").value.at("feedback").at("listen").get<std::string>();
    const auto port = static_cast<unsigned short>(std::stoi(listen.substr(listen.rfind(':') + 1)));
    proxy_ = udp::endpoint(boost::asio::ip::address_v4::loopback(), port);
  }

  Running sluice_{
      "mode: smvs\nfeedback: { listen: 127.0.0.1:0, keys: [{ id: 1, secret: 00112233445566778899aabbccddeeff }] }\n"};
  boost::asio::io_context context_;
  udp::socket socket_{context_, udp::v4()};
  udp::endpoint proxy_;
};

TEST_F(FeedbackInput, GarbageIsCountedAndWarnedOf) {
  for (int i = 0; i < 500; ++i) {
    const std::string garbage(static_cast<std::size_t>(i * 7 % 1500), static_cast<char>(i));
    socket_.send_to(boost::asio::buffer(garbage), proxy_);
    if (i % 50 == 0) std::this_thread::sleep_for(1ms);
  }
  EXPECT_TRUE(eventually([this] { return sluice_.counter("feedback.refused_bad_magic") > 0; }));
  EXPECT_TRUE(eventually([this] { return sluice_.counter("feedback.refused_too_short") > 0; }));
  EXPECT_TRUE(eventually([this] {
    return sluice_.program().err().find("feedback.refused_bad_magic") != std::string::npos;
  })) << "somebody is told";
  EXPECT_EQ(sluice_.counter("feedback.accepted"), 0U);
  sluice_.program().signal(SIGINT);
  EXPECT_EQ(sluice_.program().wait(), 0);
}

/// Sends datagrams to a chosen address.
class Sender final : public feedback::DatagramSink {
 public:
  Sender(udp::socket& socket, udp::endpoint to) : socket_(socket), to_(std::move(to)) {}
  void send(std::span<const std::uint8_t> datagram) override {
    socket_.send_to(boost::asio::buffer(datagram.data(), datagram.size()), to_);
  }

 private:
  udp::socket& socket_;
  udp::endpoint to_;
};

/// A Node-B that began with this epoch.
feedback::SessionConfig node_b(std::uint64_t epoch) {
  feedback::SessionConfig config;
  config.role = feedback::Role::node_b;
  config.sender = 2;
  config.epoch = epoch;
  config.keys = {*feedback::Key::from_hex(1, "00112233445566778899aabbccddeeff")};
  config.send_key = 1;
  return config;
}

TEST_F(FeedbackInput, ASenderWithAnOlderEpochIsNamed) {
  Sender sender(socket_, proxy_);
  feedback::Session(node_b(2000)).send_reports({}, 1s, 5ms, false, sender);
  EXPECT_TRUE(eventually([this] { return sluice_.counter("feedback.accepted") == 1; }));
  feedback::Session(node_b(1000)).send_reports({}, 1s, 5ms, false, sender);
  EXPECT_TRUE(eventually([this] { return sluice_.counter("feedback.refused_stale_epoch") == 1; }));
  EXPECT_TRUE(eventually([this] {
    return sluice_.program().err().find("sender 2 is at epoch 1000 after it was at epoch 2000") != std::string::npos;
  })) << sluice_.program().err();
}

TEST(SluiceRunning, ItsEpochGrowsEvenIfTheClockGoesBack) {
  const TemporaryFolder folder;
  const std::string file = folder.write("epoch", "9000000000000000000\n");  // in the year 2255
  Running sluice("mode: smvs\nfeedback: { listen: 127.0.0.1:0, epoch_file: " + file +
                 ", keys: [{ id: 1, secret: 00112233445566778899aabbccddeeff }] }\n");
  std::ifstream stream(file);
  std::string text;
  std::getline(stream, text);
  EXPECT_EQ(text, "9000000000000000001");
}

TEST_F(FeedbackInput, AReportReachesTheShardAndTheNodeBIsAnswered) {
  feedback::Session session(node_b(1));
  Sender sender(socket_, proxy_);
  feedback::BearerReport report;
  report.ue = IpAddress::v4(10, 45, 0, 9);
  session.send_reports(std::span(&report, 1), 1s, 5ms, false, sender);
  EXPECT_TRUE(eventually([this] { return sluice_.counter("feedback.accepted") == 1; }));
  EXPECT_TRUE(eventually([this] { return sluice_.counter("proxy.reports_unknown_bearer") == 1; }))
      << "the UE has no connection here";
  EXPECT_TRUE(eventually([this] { return socket_.available() > 0; })) << "the proxy says that it is there";
}

}  // namespace
}  // namespace sluice
