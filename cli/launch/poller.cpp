#include "launch/poller.hpp"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>

namespace sennit::cli {
namespace {

epoll_event make_event(Source source, int index, std::uint32_t events) {
    epoll_event event{};
    event.events = events;
    event.data.u64 = (std::uint64_t{static_cast<std::uint32_t>(source)} << 32) |
                     static_cast<std::uint32_t>(index);
    return event;
}

}  // namespace

Poller::Poller() : fd_(epoll_create1(EPOLL_CLOEXEC)) {
    if (fd_ < 0) throw std::system_error(errno, std::generic_category(), "epoll_create1");
}

Poller::~Poller() {
    close(fd_);
}

bool Poller::add(int fd, Source source, int index, std::uint32_t events) {
    epoll_event event = make_event(source, index, events);
    return epoll_ctl(fd_, EPOLL_CTL_ADD, fd, &event) == 0;
}

void Poller::remove(int fd) {
    (void)epoll_ctl(fd_, EPOLL_CTL_DEL, fd, nullptr);
}

void Poller::change(int fd, Source source, int index, std::uint32_t events) {
    epoll_event event = make_event(source, index, events);
    (void)epoll_ctl(fd_, EPOLL_CTL_MOD, fd, &event);
}

const std::vector<Event> &Poller::wait(int timeout_ms) {
    std::array<epoll_event, 64> ready;
    events_.clear();
    const int count = epoll_wait(fd_, ready.data(), static_cast<int>(ready.size()), timeout_ms);
    for (int i = 0; i < count; ++i) {
        const std::uint64_t data = ready[static_cast<std::size_t>(i)].data.u64;
        events_.push_back({static_cast<Source>(data >> 32), static_cast<int>(data & 0xffffffffu)});
    }
    return events_;
}

}  // namespace sennit::cli
