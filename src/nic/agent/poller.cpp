#include "nic/agent/poller.hpp"

#include <fmt/format.h>
#include <sys/epoll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "nic/agent/system_status.hpp"

namespace gradcoll {
namespace {

epoll_event event_of(Watched& watched, Poller::For what) {
    epoll_event event{};
    event.events = EPOLLIN;
    if (what == Poller::For::reading_and_writing) event.events |= EPOLLOUT;
    if (what == Poller::For::writes_of_others) event.events |= EPOLLET;
    event.data.ptr = &watched;
    return event;
}

}  // namespace

Result<Poller> Poller::make() {
    Descriptor epoll(epoll_create1(EPOLL_CLOEXEC));
    if (!epoll.is_open()) return system_status(Code::io, "epoll_create1");
    return Poller(std::move(epoll));
}

Status Poller::add(int descriptor, Watched& watched, For what) {
    epoll_event event = event_of(watched, what);
    if (epoll_ctl(epoll_.number(), EPOLL_CTL_ADD, descriptor, &event) != 0)
        return system_status(Code::io, "epoll_ctl");
    return {};
}

void Poller::change(int descriptor, Watched& watched, For what) {
    epoll_event event = event_of(watched, what);
    epoll_ctl(epoll_.number(), EPOLL_CTL_MOD, descriptor, &event);
}

void Poller::remove(int descriptor, const Watched& watched) {
    epoll_ctl(epoll_.number(), EPOLL_CTL_DEL, descriptor, nullptr);
    removed_.push_back(&watched);
}

Status Poller::turn(std::chrono::milliseconds patience) {
    std::array<epoll_event, 64> events{};
    const int count = epoll_wait(epoll_.number(), events.data(), static_cast<int>(events.size()),
                                 static_cast<int>(patience.count()));
    if (count < 0 && errno != EINTR) return system_status(Code::io, "epoll_wait");
    removed_.clear();
    for (int i = 0; i < count; ++i) {
        auto* watched = static_cast<Watched*>(events[static_cast<std::size_t>(i)].data.ptr);
        if (std::find(removed_.begin(), removed_.end(), watched) == removed_.end())
            watched->ready();
    }
    return {};
}

}  // namespace gradcoll
