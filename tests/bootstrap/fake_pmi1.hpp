// A PMI-1 launcher inside the test process: one thread serves any number of ranks over socket
// pairs, and misbehaves on request. For the tests of the wire protocol.
#pragma once

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <functional>
#include <map>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace sennit_test {

class FakePmi1 {
  public:
    // Called with each request before it is served. Returns the answer, or kServe (the usual
    // answer), kHangUp (the connection is closed) or kSilence (no answer).
    using Interceptor = std::function<std::string(const std::string &request)>;
    static inline const std::string kServe = "serve";
    static inline const std::string kHangUp = "hang up";
    static inline const std::string kSilence = "silence";

    FakePmi1(int ranks, int value_bytes, Interceptor interceptor = nullptr)
        : value_bytes_(value_bytes), interceptor_(std::move(interceptor)) {
        for (int i = 0; i < ranks; ++i) {
            int pair[2];
            if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0) std::abort();
            clients_.push_back(pair[0]);
            servers_.push_back(pair[1]);
            unread_.emplace_back();
        }
        if (pipe(stop_) != 0) std::abort();
        thread_ = std::thread([this] { serve(); });
    }

    ~FakePmi1() {
        stop();
        for (int fd : clients_)
            (void)close(fd);
        (void)close(stop_[0]);
        (void)close(stop_[1]);
    }

    FakePmi1(const FakePmi1 &) = delete;
    FakePmi1 &operator=(const FakePmi1 &) = delete;

    int fd(int rank) const { return clients_[static_cast<std::size_t>(rank)]; }

    // Ends the service. The recorded requests may be read afterwards.
    void stop() {
        if (!thread_.joinable()) return;
        (void)!write(stop_[1], "", 1);
        thread_.join();
    }

    const std::map<std::string, std::string> &store() const { return store_; }
    const std::vector<std::string> &requests() const { return requests_; }
    bool key_was_put_twice() const { return key_was_put_twice_; }

  private:
    static std::map<std::string, std::string> parse(const std::string &line) {
        std::map<std::string, std::string> fields;
        std::istringstream words(line);
        for (std::string word; words >> word;) {
            const auto equals = word.find('=');
            if (equals != std::string::npos)
                fields[word.substr(0, equals)] = word.substr(equals + 1);
        }
        return fields;
    }

    void send_text(std::size_t rank, const std::string &text) {
        (void)!send(servers_[rank], text.data(), text.size(), MSG_NOSIGNAL);
    }

    void hang_up(std::size_t rank) {
        (void)close(servers_[rank]);
        servers_[rank] = -1;
    }

    void barrier() {
        if (++in_barrier_ < servers_.size()) return;
        in_barrier_ = 0;
        for (std::size_t i = 0; i < servers_.size(); ++i)
            send_text(i, "cmd=barrier_out\n");
    }

    void answer(std::size_t rank, const std::string &line) {
        requests_.push_back(line);
        const std::string instead = interceptor_ ? interceptor_(line) : kServe;
        if (instead == kSilence) return;
        if (instead == kHangUp) return hang_up(rank);
        if (instead != kServe) return send_text(rank, instead);
        auto fields = parse(line);
        const std::string &command = fields["cmd"];
        if (command == "init") {
            send_text(rank, "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n");
        } else if (command == "get_maxes") {
            send_text(rank, "cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=" +
                                std::to_string(value_bytes_) + "\n");
        } else if (command == "get_my_kvsname") {
            send_text(rank, "cmd=my_kvsname kvsname=space_1\n");
        } else if (command == "put") {
            key_was_put_twice_ |= store_.count(fields["key"]) != 0;
            const bool fits = fields["value"].size() < static_cast<std::size_t>(value_bytes_) &&
                              fields["key"].size() < 64 && fields["kvsname"] == "space_1";
            store_[fields["key"]] = fields["value"];
            send_text(rank, fits ? "cmd=put_result rc=0 msg=success\n"
                                 : "cmd=put_result rc=-1 msg=too_long\n");
        } else if (command == "get") {
            const auto found = store_.find(fields["key"]);
            send_text(rank, found == store_.end()
                                ? "cmd=get_result rc=-1 msg=key_not_found value=unknown\n"
                                : "cmd=get_result rc=0 msg=success value=" + found->second + "\n");
        } else if (command == "barrier_in") {
            barrier();
        } else if (command == "initack") {
            send_text(rank, "cmd=initack\ncmd=set size=5\ncmd=set rank=3\ncmd=set debug=0\n");
        } else if (command == "finalize") {
            send_text(rank, "cmd=finalize_ack\n");
            hang_up(rank);
        }
    }

    void receive(std::size_t rank) {
        char bytes[4096];
        const ssize_t count = recv(servers_[rank], bytes, sizeof bytes, 0);
        if (count <= 0) return hang_up(rank);
        unread_[rank].append(bytes, static_cast<std::size_t>(count));
        for (;;) {
            const auto end = unread_[rank].find('\n');
            if (end == std::string::npos || servers_[rank] < 0) return;
            const std::string line = unread_[rank].substr(0, end);
            unread_[rank].erase(0, end + 1);
            answer(rank, line);
        }
    }

    void serve() {
        for (;;) {
            std::vector<pollfd> entries;
            for (int fd : servers_)
                entries.push_back({fd, POLLIN, 0});
            entries.push_back({stop_[0], POLLIN, 0});
            (void)poll(entries.data(), entries.size(), -1);
            for (std::size_t i = 0; i < servers_.size(); ++i)
                if (servers_[i] >= 0 && entries[i].revents != 0) receive(i);
            if (entries.back().revents != 0) break;
        }
        for (std::size_t i = 0; i < servers_.size(); ++i)
            if (servers_[i] >= 0) hang_up(i);
    }

    int value_bytes_;
    Interceptor interceptor_;
    std::vector<int> clients_;
    std::vector<int> servers_;
    std::vector<std::string> unread_;
    std::vector<std::string> requests_;
    std::map<std::string, std::string> store_;
    std::size_t in_barrier_ = 0;
    bool key_was_put_twice_ = false;
    int stop_[2];
    std::thread thread_;
};

}  // namespace sennit_test
