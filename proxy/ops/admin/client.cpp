#include "proxy/ops/admin/client.hpp"

#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/write.hpp>
#include <cerrno>
#include <cstring>
#include <optional>
#include <stdexcept>

namespace sluice::admin {
namespace {

using boost::asio::local::stream_protocol;
using boost::system::error_code;

/// Maximum length in bytes of an answer that the client reads from a program.
constexpr std::size_t longest_answer = std::size_t{64} << 20;

}  // namespace

std::string unreachable(const std::string& socket, int error) {
  if (error == EACCES)
    return socket + " does not accept this user (" + std::strerror(error) +
           "): use sudo, or name a group of this user in admin.group";
  return "no program answers on " + socket + " (" + std::strerror(error) +
         "); is the program running, and is this its admin socket?";
}

Answer ask(const std::string& socket, const std::string& line, std::chrono::milliseconds timeout) {
  if (socket.empty() || socket.size() >= 108) throw std::runtime_error("bad socket path '" + socket + "'");
  boost::asio::io_context context;
  stream_protocol::socket connection(context);
  error_code error;
  connection.connect(stream_protocol::endpoint(socket), error);
  if (error) {
    throw std::runtime_error(unreachable(socket, error.value()));
  }
  std::string input;
  std::optional<std::size_t> length;
  const std::string request = line + "\n";
  boost::asio::async_write(connection, boost::asio::buffer(request), [&](const error_code&, std::size_t) {
    // A program that refuses the connection sends its answer and closes before it reads, so that the write may fail.
    boost::asio::async_read_until(connection, boost::asio::dynamic_buffer(input, longest_answer), '\n',
                                  [&](const error_code& received, std::size_t bytes) {
                                    error = received;
                                    if (!received) length = bytes;
                                  });
  });
  context.run_for(timeout);
  if (error == boost::asio::error::eof || error == boost::asio::error::connection_reset)
    throw std::runtime_error("no answer on " + socket +
                             ": the program closed the connection; has it too many clients?");
  if (error) throw std::runtime_error("no answer on " + socket + ": " + error.message());
  if (!length) throw std::runtime_error("no answer on " + socket + " in time");
  return Answer::from_line(input.substr(0, *length - 1));
}

}  // namespace sluice::admin
