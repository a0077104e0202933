#include "nic/agent/session.hpp"

#include <fmt/format.h>
#include <sys/eventfd.h>

#include <cstring>
#include <utility>

#include "base/log.hpp"
#include "nic/coded_frame.hpp"

namespace gradcoll {
namespace {

constexpr std::size_t text_bytes_a_packet = std::size_t{32} << 10;

}  // namespace

Session::Session(const Host& host, Descriptor socket) : host_(host), socket_(std::move(socket)) {}

Session::~Session() {
    *is_there_ = false;
    take_down();
}

Status Session::begin() {
    return host_.poller.add(socket_.number(), *this);
}

/// Frees the rank's memory and rings; others do not notice.
bool Session::take_down() {
    if (std::exchange(step_, Step::ended) == Step::ended) return false;
    host_.poller.remove(socket_.number(), *this);
    if (event_.descriptor.is_open()) host_.poller.remove(event_.descriptor.number(), event_);
    if (group_ != nullptr) group_->leave(hello_.rank);
    return true;
}

void Session::end() {
    if (take_down()) host_.ended(*this);
}

void Session::refuse(const Status& why) {
    ++host_.counters.ranks_refused;
    log(LogLevel::info, "a process is refused: {}", why.message());
    if (const Status sent = send_packet(socket_.number(), NicRefusal::of(why.message()));
        !sent.ok())
        log(LogLevel::debug, "{}", sent.message());
    end();
}

void Session::ready() {
    Result<NicReceived> packet = receive_packet(socket_.number());
    if (packet.ok() && packet->bytes.empty()) return end();
    const Status status = packet.ok() ? take(std::move(*packet)) : packet.status();
    if (!status.ok()) refuse(status);
}

Status Session::take(NicReceived packet) {
    if (const auto* hello = packet.as<NicHello>(); hello != nullptr && step_ == Step::hello)
        return take_hello(*hello);
    if (step_ == Step::roster) return take_roster(std::move(packet));
    if (packet.as<NicConnect>() == nullptr || step_ != Step::joined)
        return {Code::corrupt,
                fmt::format("a packet of {} bytes that is not due", packet.bytes.size())};
    group_->connect([this, there = is_there_](const Status& status) {
        if (!*there || step_ != Step::joined) return;
        const Status told = status.ok()
                                ? send_packet(socket_.number(), NicConnected{})
                                : send_packet(socket_.number(), NicRefusal::of(status.message()));
        if (!told.ok()) log(LogLevel::info, "rank {}: {}", hello_.rank, told.message());
    });
    return {};
}

Status Session::take_hello(const NicHello& hello) {
    if (hello.magic != nic_magic || hello.version != nic_version)
        return {Code::unsupported, fmt::format("the agent speaks version {}, the process {}",
                                               nic_version, hello.version)};
    if (hello.purpose == NicPurpose::status) return tell_status();
    if (hello.purpose != NicPurpose::join || hello.rank >= hello.rank_count ||
        hello.host >= hello.host_count)
        return {Code::invalid_argument,
                fmt::format("rank {} of {} on host {} of {}", hello.rank, hello.rank_count,
                            hello.host, hello.host_count)};
    hello_ = hello;
    step_ = Step::roster;
    NicWelcome welcome;
    welcome.process = getpid();
    welcome.codecs = digest_of_codecs();
    welcome.endpoint = host_.endpoint;
    return send_packet(socket_.number(), welcome);
}

Status Session::take_roster(NicReceived packet) {
    NicRoster roster = GRADCOLL_VALUE(NicRoster::unpacked(packet.bytes));
    if (roster.host_of_rank.size() != hello_.rank_count ||
        roster.endpoints.size() != hello_.host_count)
        return {Code::invalid_argument, "a roster of another group"};
    RankMemory memory;
    if (!packet.files.empty())
        memory = GRADCOLL_VALUE(RankMemory::of(std::move(packet.files.front())));
    Group* group = GRADCOLL_VALUE(host_.find_group(hello_, std::move(roster)));
    Descriptor file;
    SharedRegion region = GRADCOLL_VALUE(SharedRegion::make(group->shape(), file));
    event_.descriptor = Descriptor(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
    if (!event_.descriptor.is_open()) return {Code::io, "eventfd: none left"};
    GRADCOLL_TRY(
        host_.poller.add(event_.descriptor.number(), event_, Poller::For::writes_of_others));
    GRADCOLL_TRY(group->join(
        std::make_shared<NicMember>(hello_.rank, std::move(region), std::move(memory))));
    group_ = group;
    step_ = Step::joined;
    ++host_.counters.ranks_joined;
    NicReady ready;
    ready.shape = group->shape();
    const Descriptor* files[] = {&file, &event_.descriptor};
    return send_packet(socket_.number(), ready, files);
}

Status Session::tell_status() {
    const std::string text = host_.status();
    for (std::size_t at = 0; at < text.size(); at += text_bytes_a_packet) {
        const std::string part = text.substr(at, text_bytes_a_packet);
        NicTextHead head;
        head.is_last = at + part.size() == text.size() ? 1 : 0;
        std::vector<std::byte> packet(sizeof head + part.size());
        std::memcpy(packet.data(), &head, sizeof head);
        std::memcpy(packet.data() + sizeof head, part.data(), part.size());
        GRADCOLL_TRY(send_packet(socket_.number(), packet));
    }
    return {};
}

}  // namespace gradcoll
