// The windows that a UE gets for its uploads: while it has a download, they keep the queue of its modem short.

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "tests/unit/proxy/shard_acks.hpp"

namespace sluice::test {
namespace {

using namespace std::chrono_literals;
using proxy::Side;
using tcp::Flags;

class ShardUploadLimits : public ShardAcks {
 protected:
  explicit ShardUploadLimits(const proxy::ShardConfig& config = acks_config()) : ShardAcks(config) {}

  void open(ScriptedHosts& upload, std::uint16_t port) {
    upload.ue_to_server.src_port = port;
    upload.send_syn();
    upload.send_syn_ack();
    lab.pass_time(20ms);
    upload.ue(Flags::ack_bit, 0, 0);
  }
  /// Sends `segments` at 1 Mb/s, which the server acknowledges at once. Returns the bytes that the UE may send then.
  std::int64_t send(ScriptedHosts& upload, std::uint32_t& position, int segments) {
    for (; segments > 0; --segments) {
      upload.ue(Flags::ack_bit, position, 0, std::string(segment_size, 'u'));
      position += segment_size;
      upload.server(Flags::ack_bit, 0, position);
      lab.pass_time(8ms);
      read_windows(upload);
    }
    return edge_ - position;
  }
  /// The UE receives 120 kB, and then more data is in flight to it.
  void begin_download() {
    hosts.open();
    for (int i = 0; i < 30; ++i) {
      offer(hosts, offered, 4);
      lab.pass_time(5ms);
      hosts.ue(Flags::ack_bit, 0, offered);
    }
    offer(hosts, offered, 4);
    lab.forget_output();
  }
  ScriptedHosts upload_{lab};
  std::uint32_t sent_ = 0;

 private:
  void read_windows(const ScriptedHosts& upload) {
    while (const auto seen = lab.next(Side::radio)) {
      if (seen->parsed.dst_port != upload.ue_to_server.src_port) continue;
      const std::uint32_t window = std::uint32_t{seen->segment().window} << upload.options.window_scale;
      edge_ = seen->segment().ack.raw() + window - (upload.ue_isn.raw() + 1);
    }
  }
  std::uint32_t edge_ = 0;  ///< right edge of the UE's window, counted from its first byte
};

TEST_F(ShardUploadLimits, AnUploadHasASmallWindowBesideADownload) {
  begin_download();
  open(upload_, 50'000);
  const std::int64_t window = send(upload_, sent_, 250);
  EXPECT_LE(window, 20'000) << "20 ms and the target of 50 ms at 1 Mb/s are 9 kB";
  EXPECT_GE(window, 4'000);
}

TEST_F(ShardUploadLimits, WithoutADownloadTheWindowNeverLimitsSlowStart) {
  open(upload_, 50'000);
  for (int i = 0; i < 10; ++i) EXPECT_GE(send(upload_, sent_, 25), 60'000) << "after " << sent_ << " bytes";
  EXPECT_GE(send(upload_, sent_, 50), 110'000) << "as much as the server permits";
}

TEST_F(ShardUploadLimits, SeveralUploadsShareTheWindow) {
  begin_download();
  ScriptedHosts other(lab);
  std::uint32_t sent = 0;
  open(upload_, 50'000);
  open(other, 50'001);
  for (int i = 0; i < 125; ++i) {
    send(upload_, sent_, 1);
    send(other, sent, 1);
  }
  EXPECT_LE(send(upload_, sent_, 1), 10'000);
}

TEST_F(ShardUploadLimits, TheWindowOpensAgainAfterTheDownload) {
  begin_download();
  open(upload_, 50'000);
  ASSERT_LE(send(upload_, sent_, 250), 30'000);
  hosts.ue(Flags::ack_bit, 0, offered);
  EXPECT_LE(send(upload_, sent_, 60), 30'000) << "half a second later the next object may come";
  EXPECT_GE(send(upload_, sent_, 200), 110'000);
}

TEST_F(ShardUploadLimits, WithoutTimestampsNothingIsLimited) {
  upload_.options.timestamps = false;
  begin_download();
  open(upload_, 50'000);
  EXPECT_GE(send(upload_, sent_, 250), 110'000);
}

class ShardUnlimitedUploads : public ShardUploadLimits {
 protected:
  static proxy::ShardConfig unlimited() {
    proxy::ShardConfig config = acks_config();
    config.smvs.upload_windows = proxy::UploadWindows::unlimited;
    return config;
  }
  ShardUnlimitedUploads() : ShardUploadLimits(unlimited()) {}
};

TEST_F(ShardUnlimitedUploads, HaveTheWindowOfTheServer) {
  begin_download();
  open(upload_, 50'000);
  EXPECT_GE(send(upload_, sent_, 250), 110'000);
}

}  // namespace
}  // namespace sluice::test
