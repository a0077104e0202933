#include "nic/agent/greeting.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "nic/agent/system_status.hpp"

namespace gradcoll {
namespace {

Status wrong_version(std::uint32_t theirs) {
    return {Code::unsupported,
            fmt::format("the other agent speaks version {}, this one {}", theirs, nic_version)};
}

LinkFrame up_frame() {
    LinkFrame frame;
    frame.kind = FrameKind::up;
    frame.crc = crc_of(frame, {});
    return frame;
}

std::string text_of(std::uint32_t address) {
    std::array<char, INET_ADDRSTRLEN> text{};
    inet_ntop(AF_INET, &address, text.data(), text.size());
    return text.data();
}

}  // namespace

Result<bool> GreetingSocket::read_bytes(void* to, std::size_t size_bytes) {
    const std::size_t before = buffer_.size();
    if (before < size_bytes) {
        buffer_.resize(size_bytes);
        const ssize_t count =
            recv(socket_.number(), buffer_.data() + before, size_bytes - before, MSG_DONTWAIT);
        buffer_.resize(before + static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
        if (count == 0) return Status(Code::transport, "the other side has closed");
        if (count < 0 && errno != EAGAIN && errno != EINTR)
            return system_status(Code::transport, "receive", errno);
    }
    if (buffer_.size() < size_bytes) return false;
    std::memcpy(to, buffer_.data(), size_bytes);
    buffer_.erase(buffer_.begin(), buffer_.begin() + static_cast<std::ptrdiff_t>(size_bytes));
    return true;
}

/// Writes all bytes at once: so few always fit into a socket that nothing was sent to.
Status GreetingSocket::write_bytes(const void* from, std::size_t size_bytes) {
    const ssize_t count = send(socket_.number(), from, size_bytes, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (count == static_cast<ssize_t>(size_bytes)) return {};
    return system_status(Code::transport, "send", count < 0 ? errno : ENOBUFS);
}

// ---- who is connected to

IncomingGreeting::IncomingGreeting(Poller& poller, Descriptor socket, FindKey find_key, Done done)
    : poller_(poller),
      socket_(std::move(socket)),
      find_key_(std::move(find_key)),
      done_(std::move(done)) {}

IncomingGreeting::~IncomingGreeting() {
    if (step_ != Step::done) poller_.remove(socket_.number(), *this);
}

void IncomingGreeting::end(const Status& status) {
    if (std::exchange(step_, Step::done) == Step::done) return;
    poller_.remove(socket_.number(), *this);
    done_(*this, status);
}

void IncomingGreeting::give_up_late(NicClock::time_point now) {
    if (now >= deadline_) end({Code::transport, "did not say in time who it is"});
}

void IncomingGreeting::ready() {
    if (const Status status = go_on(); !status.ok()) end(status);
}

Status IncomingGreeting::go_on() {
    if (step_ == Step::hello) {
        if (const bool there = GRADCOLL_VALUE(socket_.read(said_.hello)); !there) return {};
        GRADCOLL_TRY(answer_hello());
        step_ = Step::answer;
    }
    LinkAnswer answer;
    if (const bool there = GRADCOLL_VALUE(socket_.read(answer)); !there) return {};
    if (!same_proof(answer.proof, expected_))
        return {Code::corrupt, "does not know the secret of the group"};
    GRADCOLL_TRY(socket_.write(up_frame()));
    end({});
    return {};
}

/// Answers a hello. Whoever names no group of ours is told nothing.
Status IncomingGreeting::answer_hello() {
    const LinkHello& hello = said_.hello;
    if (hello.magic != link_magic) return {Code::corrupt, "is no agent"};
    LinkChallenge challenge;
    if (hello.version != nic_version) {
        GRADCOLL_TRY(socket_.write(challenge));
        return wrong_version(hello.version);
    }
    const NicGroupKey* key = find_key_(hello);
    if (key == nullptr) return {Code::invalid_argument, "names a group that is not here"};
    said_.answer = challenge.nonce = GRADCOLL_VALUE(new_nonce());
    challenge.proof = GRADCOLL_VALUE(proof_of(*key, LinkSide::accepted, said_));
    expected_ = GRADCOLL_VALUE(proof_of(*key, LinkSide::connected, said_));
    return socket_.write(challenge);
}

// ---- who connects

OutgoingGreeting::OutgoingGreeting(Poller& poller, const Aim& aim, Done done)
    : poller_(poller), aim_(aim), done_(std::move(done)) {}

OutgoingGreeting::~OutgoingGreeting() {
    drop_socket();
}

void OutgoingGreeting::drop_socket() {
    if (socket_ && step_ != Step::done) poller_.remove(socket_->number(), *this);
    socket_ = nullptr;
}

void OutgoingGreeting::end(const Status& status) {
    if (step_ == Step::done) return;
    if (socket_) poller_.remove(socket_->number(), *this);
    step_ = Step::done;
    done_(*this, status);
}

void OutgoingGreeting::give_up_late(NicClock::time_point now) {
    if (step_ != Step::done && now >= deadline_) try_next({Code::transport, "no answer in time"});
}

/// Tries the addresses that are left. `before` is what was wrong with the last one.
void OutgoingGreeting::try_next(const Status& before) {
    Status last = before;
    while (next_address_ <
           std::min<std::size_t>(aim_.endpoint.address_count, NicEndpoint::most_addresses)) {
        drop_socket();
        const std::uint32_t address = aim_.endpoint.addresses[next_address_++];
        last = connect_to(address);
        if (last.ok()) return;
    }
    end({last.code(), fmt::format("agent of host {}: {}", aim_.to, last.message())});
}

Status OutgoingGreeting::connect_to(std::uint32_t address) {
    step_ = Step::connecting;
    deadline_ = NicClock::now() + greeting_patience;
    Descriptor made(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (!made.is_open()) return system_status(Code::transport, "socket", errno);
    const int on = 1;
    setsockopt(made.number(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(aim_.endpoint.port);
    to.sin_addr.s_addr = address;
    if (connect(made.number(), reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0 &&
        errno != EINPROGRESS)
        return {Code::transport, fmt::format("{} port {}: {}", text_of(address), aim_.endpoint.port,
                                             std::strerror(errno))};
    GRADCOLL_TRY(poller_.add(made.number(), *this, Poller::For::reading_and_writing));
    socket_ = std::make_unique<GreetingSocket>(std::move(made));
    return {};
}

/// Continues, or tries the next address: an agent at one address that is not the one that was meant
/// may be followed by the right one at the next.
void OutgoingGreeting::ready() {
    if (const Status status = go_on(); !status.ok()) try_next(status);
}

Status OutgoingGreeting::go_on() {
    if (step_ == Step::connecting) GRADCOLL_TRY(say_hello());
    if (step_ == Step::challenge) GRADCOLL_TRY(answer_challenge());
    if (step_ != Step::up) return {};
    LinkFrame frame;
    if (const bool there = GRADCOLL_VALUE(socket_->read(frame)); !there) return {};
    GRADCOLL_TRY(check_link_frame(frame, 0));
    if (frame.kind != FrameKind::up || frame.crc != crc_of(frame, {}))
        return {Code::corrupt, "the other agent did not take the proof"};
    end({});
    return {};
}

Status OutgoingGreeting::say_hello() {
    int code = 0;
    socklen_t size = sizeof code;
    getsockopt(socket_->number(), SOL_SOCKET, SO_ERROR, &code, &size);
    if (code != 0) return system_status(Code::transport, "connect", code);
    said_.hello = LinkHello{};
    said_.hello.group = aim_.key.id;
    said_.hello.from = aim_.from;
    said_.hello.to = aim_.to;
    said_.hello.nonce = GRADCOLL_VALUE(new_nonce());
    GRADCOLL_TRY(socket_->write(said_.hello));
    poller_.change(socket_->number(), *this, Poller::For::reading);
    step_ = Step::challenge;
    return {};
}

Status OutgoingGreeting::answer_challenge() {
    LinkChallenge challenge;
    if (const bool there = GRADCOLL_VALUE(socket_->read(challenge)); !there) return {};
    if (challenge.magic != link_magic) return {Code::corrupt, "is no agent"};
    if (challenge.version != nic_version) return wrong_version(challenge.version);
    said_.answer = challenge.nonce;
    const NicProof expected = GRADCOLL_VALUE(proof_of(aim_.key, LinkSide::accepted, said_));
    if (!same_proof(challenge.proof, expected))
        return {Code::corrupt, "does not know the secret of the group"};
    LinkAnswer answer;
    answer.proof = GRADCOLL_VALUE(proof_of(aim_.key, LinkSide::connected, said_));
    GRADCOLL_TRY(socket_->write(answer));
    step_ = Step::up;
    return {};
}

}  // namespace gradcoll
