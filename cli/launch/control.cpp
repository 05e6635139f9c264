#include "launch/control.hpp"

#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace sennit::cli {
namespace {

using runtime::kLaunchMagic;
using runtime::LaunchFrame;
using runtime::LaunchHello;
using runtime::LaunchKind;

// The size of the buffer into which a rank reads a reason.
constexpr std::size_t kReasonBytesMax = 190;

LaunchFrame make_frame(LaunchKind kind, std::uint32_t sequence, int peer) {
    LaunchFrame frame{};
    frame.magic = kLaunchMagic;
    frame.kind = kind;
    frame.sequence = sequence;
    frame.peer = peer;
    return frame;
}

void append_frame(std::string &out, LaunchFrame frame, std::string_view payload) {
    frame.bytes = payload.size();
    out.append(reinterpret_cast<const char *>(&frame), sizeof frame);
    out.append(payload);
}

// Receives one hello, and the descriptor that came with it (-1 if none). Returns false if nothing
// was received; errno is then 0 at the end of the stream.
bool receive_hello(int fd, LaunchHello &hello, bool &whole, int &passed_fd) {
    iovec part{&hello, sizeof hello};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    errno = 0;
    const ssize_t bytes = recvmsg(fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (bytes <= 0) return false;
    whole = bytes == static_cast<ssize_t>(sizeof hello) && (message.msg_flags & MSG_TRUNC) == 0;
    passed_fd = -1;
    const cmsghdr *header = CMSG_FIRSTHDR(&message);
    if (header != nullptr && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS) {
        std::memcpy(&passed_fd, CMSG_DATA(header), sizeof passed_fd);
    }
    return true;
}

pid_t creator_of(int fd) {
    ucred creator{};
    socklen_t bytes = sizeof creator;
    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &creator, &bytes) == 0 ? creator.pid : 0;
}

}  // namespace

Control::Control(const Cookie &cookie, int ranks, Poller &poller)
    : cookie_(cookie), poller_(&poller), ranks_(static_cast<std::size_t>(ranks)) {}

Control::~Control() {
    for (Claimant &rank : ranks_) {
        if (rank.control_fd >= 0) close(rank.control_fd);
        if (rank.connection_fd >= 0) close(rank.connection_fd);
    }
}

int Control::open_rank(int rank) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return -1;
    if (!poller_->add(ends[0], Source::kControl, rank, EPOLLIN)) {
        close(ends[0]);
        close(ends[1]);
        return -1;
    }
    at(rank).control_fd = ends[0];
    return ends[1];
}

bool Control::control_ready(int rank) {
    if (at(rank).control_fd < 0) return false;
    LaunchHello hello{};
    bool whole = false;
    int connection_fd = -1;
    if (!receive_hello(at(rank).control_fd, hello, whole, connection_fd)) {
        if (errno == EAGAIN || errno == EINTR) return false;
        // All processes that had inherited the socket have closed it.
        poller_->remove(at(rank).control_fd);
        close(at(rank).control_fd);
        at(rank).control_fd = -1;
        return false;
    }
    if (connection_fd < 0) {
        unsigned char first = 0;
        std::memcpy(&first, &hello, sizeof first);
        if (!whole && first == runtime::kLaunchFarewell) at(rank).said_goodbye = true;
        if (!whole && first == runtime::kLaunchEndsAll && ends_all_ < 0) ends_all_ = rank;
        return true;
    }
    // First read the last messages of the process that had the rank before.
    connection_ready(rank);
    const std::string reason = whole ? refusal(rank, hello) : "malformed hello";
    if (reason.empty()) {
        claim(rank, connection_fd);
        return true;
    }
    std::string answer;
    append_frame(answer, make_frame(LaunchKind::kRefused, 0, -1),
                 std::string_view(reason).substr(0, kReasonBytesMax));
    (void)::send(connection_fd, answer.data(), answer.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    close(connection_fd);
    return true;
}

std::string Control::refusal(int rank, const LaunchHello &hello) const {
    if (hello.magic != kLaunchMagic || hello.version != runtime::kLaunchVersion) {
        return fmt::format("this launcher speaks version {} of its protocol, the program another",
                           runtime::kLaunchVersion);
    }
    if (!std::equal(cookie_.begin(), cookie_.end(), hello.cookie)) {
        return fmt::format("the cookie in {} is not this job's", runtime::kLaunchJobVariable);
    }
    if (hello.rank != rank || hello.size != size()) {
        return fmt::format("the process says rank {} of {}, its control socket is rank {} of {}",
                           hello.rank, hello.size, rank, size());
    }
    if (at(rank).ended) return fmt::format("the process started as rank {} has ended", rank);
    if (at(rank).connection_fd >= 0) {
        return fmt::format("rank {} is claimed already, by process {}", rank, at(rank).claimed_by);
    }
    return "";
}

void Control::claim(int rank, int connection_fd) {
    Claimant &mine = at(rank);
    if (!poller_->add(connection_fd, Source::kConnection, rank, EPOLLIN)) {
        close(connection_fd);
        return;
    }
    mine.connection_fd = connection_fd;
    mine.watches_writable = false;
    mine.said_goodbye = false;
    mine.claims += 1;
    mine.next_sequence = 0;
    mine.claimed_by = creator_of(connection_fd);
    mine.received.clear();
    mine.to_send.clear();
    send(rank, make_frame(LaunchKind::kWelcome, 0, -1), "");
}

void Control::connection_ready(int rank) {
    static char buffer[65536];
    while (at(rank).connection_fd >= 0) {
        flush(rank);
        if (at(rank).connection_fd < 0) return;
        const ssize_t bytes = recv(at(rank).connection_fd, buffer, sizeof buffer, MSG_DONTWAIT);
        if (bytes < 0 && errno == EINTR) continue;
        if (bytes < 0 && errno == EAGAIN) return;
        if (bytes <= 0) {
            close_connection(rank);
            return;
        }
        at(rank).received.append(buffer, static_cast<std::size_t>(bytes));
        while (take_frame(rank)) {
        }
    }
}

// Handles one complete frame of the received bytes; false if there is none.
bool Control::take_frame(int rank) {
    Claimant &mine = at(rank);
    if (mine.connection_fd < 0 || mine.received.size() < sizeof(LaunchFrame)) return false;
    LaunchFrame frame{};
    std::memcpy(&frame, mine.received.data(), sizeof frame);
    const auto size_of_world = static_cast<std::uint64_t>(size());
    if (frame.magic == kLaunchMagic && frame.kind == LaunchKind::kWhoIsLate && frame.bytes == 0) {
        mine.received.erase(0, sizeof frame);
        answer_late_rank(rank, frame.sequence);
        return true;
    }
    const bool sound = frame.magic == kLaunchMagic &&
                       (frame.kind == LaunchKind::kGather || frame.kind == LaunchKind::kGoodbye) &&
                       frame.bytes <= runtime::kLaunchGatherBytesMax / size_of_world &&
                       frame.sequence == mine.next_sequence;
    if (!sound || frame.kind == LaunchKind::kGoodbye) {
        mine.said_goodbye = sound;
        close_connection(rank);
        return false;
    }
    const std::size_t whole = sizeof frame + static_cast<std::size_t>(frame.bytes);
    if (mine.received.size() < whole) return false;
    mine.next_sequence += 1;
    const std::string part = mine.received.substr(sizeof frame, whole - sizeof frame);
    mine.received.erase(0, whole);
    give_part(rank, frame, part);
    return true;
}

void Control::give_part(int rank, const LaunchFrame &frame, std::string_view part) {
    const GatherName name{at(rank).claims, frame.sequence};
    Gather &gather = gathers_[name];
    if (gather.given.empty()) {
        gather.bytes = frame.bytes;
        gather.given.resize(ranks_.size());
        gather.parts.resize(static_cast<std::size_t>(frame.bytes) * ranks_.size());
    }
    gather.given[static_cast<std::size_t>(rank)] = true;
    gather.count += 1;
    if (gather.bytes != frame.bytes) {
        fail_gather(name, gather, rank,
                    fmt::format("rank {} gave {} bytes to an allgather of {} bytes a rank", rank,
                                frame.bytes, gather.bytes));
        return;
    }
    part.copy(gather.parts.data() + static_cast<std::size_t>(rank) * part.size(), part.size());
    if (gather.count == size()) {
        complete(name, gather);
        return;
    }
    std::string why;
    const int missing = missing_rank(name, gather, why);
    if (missing >= 0) fail_gather(name, gather, missing, why);
}

void Control::answer_late_rank(int rank, std::uint32_t sequence) {
    const auto found = gathers_.find({at(rank).claims, sequence});
    if (found == gathers_.end()) return;  // already answered
    const std::vector<bool> &given = found->second.given;
    const auto late = static_cast<int>(std::ranges::find(given, false) - given.begin());
    const auto waits = std::ranges::find(given, true) - given.begin();
    const bool came = at(late).claims >= at(rank).claims;
    const int others = size() - found->second.count - 1;
    const std::string text =
        fmt::format("{}{} {}",
                    came ? fmt::format("rank {} (process {})", late, at(late).claimed_by)
                         : fmt::format("rank {}", late),
                    others > 0 ? fmt::format(" and {} more", others) : "",
                    came                   ? "did not reach the call in which the others wait"
                    : at(late).claims == 0 ? "did not call sennit_init"
                                           : "did not call sennit_init again");
    send(rank, make_frame(LaunchKind::kLate, static_cast<std::uint32_t>(waits), late), text);
}

void Control::complete(const GatherName &name, Gather &gather) {
    const Gather done = std::move(gather);
    gathers_.erase(name);
    const LaunchFrame frame = make_frame(LaunchKind::kGathered, name.second, -1);
    for (int rank = 0; rank < size(); ++rank) {
        if (at(rank).claims == name.first) send(rank, frame, done.parts);
    }
}

void Control::fail_gather(const GatherName &name, Gather &gather, int missing,
                          const std::string &why) {
    const Gather failed = std::move(gather);
    gathers_.erase(name);
    const LaunchFrame frame = make_frame(LaunchKind::kLost, name.second, missing);
    for (int rank = 0; rank < size(); ++rank) {
        if (failed.given[static_cast<std::size_t>(rank)] && at(rank).claims == name.first) {
            send(rank, frame, std::string_view(why).substr(0, kReasonBytesMax));
        }
    }
}

int Control::missing_rank(const GatherName &name, const Gather &gather, std::string &why) const {
    int first_left = -1;
    for (int rank = 0; rank < size(); ++rank) {
        const Claimant &other = at(rank);
        if (gather.given[static_cast<std::size_t>(rank)]) continue;
        const bool left =
            other.claims > name.first || (other.claims == name.first && other.connection_fd < 0);
        if (!left && other.ended) {
            why = fmt::format("the process of rank {} has ended", rank);
            return rank;
        }
        if (left && first_left < 0) {
            why = fmt::format("rank {} has left", rank);
            first_left = rank;
        }
    }
    return first_left;
}

void Control::fail_impossible_gathers() {
    for (bool again = true; again;) {
        again = false;
        for (auto &[name, gather] : gathers_) {
            std::string why;
            const int missing = missing_rank(name, gather, why);
            if (missing < 0) continue;
            fail_gather(GatherName(name), gather, missing, why);
            again = true;
            break;
        }
    }
}

bool Control::has_no_claim() const {
    return std::ranges::all_of(ranks_, [](const Claimant &rank) { return rank.claims == 0; });
}

void Control::rank_ended(int rank) {
    while (control_ready(rank)) {
    }  // first handle the last messages of the rank
    connection_ready(rank);
    at(rank).ended = true;
    fail_impossible_gathers();
}

bool Control::ended_without_goodbye(int rank) const {
    return at(rank).connection_fd < 0 && !at(rank).said_goodbye;
}

int Control::ender_of_job() {
    for (int rank = 0; rank < size() && ends_all_ < 0; ++rank) {
        while (control_ready(rank)) {
        }
    }
    return ends_all_;
}

void Control::send(int rank, const LaunchFrame &frame, std::string_view payload) {
    if (at(rank).connection_fd < 0) return;
    append_frame(at(rank).to_send, frame, payload);
    flush(rank);
}

void Control::flush(int rank) {
    Claimant &mine = at(rank);
    while (mine.connection_fd >= 0 && !mine.to_send.empty()) {
        const ssize_t sent = ::send(mine.connection_fd, mine.to_send.data(), mine.to_send.size(),
                                    MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent > 0) {
            mine.to_send.erase(0, static_cast<std::size_t>(sent));
        } else if (errno != EINTR) {
            // EAGAIN: try again later. Other errors appear as the end of the stream in the next
            // read.
            if (errno != EAGAIN) mine.to_send.clear();
            break;
        }
    }
    if (mine.connection_fd < 0 || mine.watches_writable == !mine.to_send.empty()) return;
    mine.watches_writable = !mine.to_send.empty();
    poller_->change(mine.connection_fd, Source::kConnection, rank,
                    mine.watches_writable ? EPOLLIN | EPOLLOUT : EPOLLIN);
}

void Control::close_connection(int rank) {
    Claimant &mine = at(rank);
    if (mine.connection_fd < 0) return;
    poller_->remove(mine.connection_fd);
    close(mine.connection_fd);
    mine.connection_fd = -1;
    mine.received.clear();
    mine.to_send.clear();
    fail_impossible_gathers();
}

}  // namespace sennit::cli
