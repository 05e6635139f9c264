// One rank of the path fabric, and peers whose messages a test writes and reads. The rank's
// reaction to a fault shows in its messages to the peers and in the results of its operations.
// There is no second rank, no progress thread and no watch of other nodes. Time passes only when
// the test says so: waits of seconds are over at once, and each run is the same.
#pragma once

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/knobs.hpp"
#include "runtime/watch/table.hpp"
#include "transport/fabric/network.hpp"

namespace told {

using namespace sennit;
using namespace sennit::transport;
using namespace sennit::transport::fabric;

inline std::atomic<std::int64_t> time_ns{1'000'000'000'000};
inline void pass(std::int64_t ns) {
    time_ns += ns;
}
inline constexpr std::int64_t kMs = 1'000'000;

struct Word {
    fi_context2 context;
    MessageHeader header{};
    std::byte body[kMostPayloadBytes + kAnswersBytes];
    unsigned by = 0;  // number of the rail
};

inline constexpr int kTold = 0;  // the rank under test

// Messages use one domain, puts and gets another. Puts and gets stay on their way until the peer
// looks at its memory.
class ToldPeer {
  public:
    static constexpr std::uint64_t kHandle = 5;
    static constexpr std::size_t kBytes = 4096;

    void find(const Library &library, const Settings &settings, Address *card) {
        ASSERT_EQ(found_.find(library, settings), SENNIT_OK) << sennit_last_error()->text;
        ASSERT_EQ(found_memory_.find(library, settings), SENNIT_OK) << sennit_last_error()->text;
        RailCard mine{};
        found_.describe(&mine);
        std::memcpy(card->bytes, &mine, sizeof mine);
    }

    void open(const InterfaceChoice &choice, const RailCard &own, int rank, std::uint64_t cookie) {
        rank_ = rank;
        cookie_ = cookie;
        rails_ = choice.rails();
        for (unsigned rail = 0; rail < rails_; ++rail) {
            const unsigned interface = choice.of(own, rail);
            ASSERT_EQ(words_[rail].open(found_, interface, 8), SENNIT_OK);
            ASSERT_EQ(memory_[rail].open(found_memory_, interface, 8), SENNIT_OK);
            expose(rail);
            for (int i = 0; i < 16; ++i) {
                rooms_.push_back(std::make_unique<Word>());
                rooms_.back()->by = rail;
                receive(rooms_.back().get());
            }
        }
    }

    // The name under which this peer receives the rank's messages.
    void name_messages(unsigned rail, std::uint8_t name[kNameBytes]) {
        ASSERT_EQ(words_[rail].message_name(name), SENNIT_OK);
    }
    void meet(unsigned rail, const void *name) {
        ASSERT_EQ(words_[rail].insert(name, there_ + rail), SENNIT_OK);
    }

    void close() {
        for (unsigned rail = 0; rail < rails_; ++rail) {
            hide(rail);
            words_[rail].close();
            memory_[rail].close();
        }
        rails_ = 0;
    }

    // The ports from which messages come to this peer, if the provider has ports.
    std::set<std::uint16_t> senders() {
        std::uint8_t name[kNameBytes] = {};
        EXPECT_EQ(words_[0].message_name(name), SENNIT_OK);
        sockaddr_in here;
        std::memcpy(&here, name, sizeof here);
        std::set<std::uint16_t> ports;
        for (int descriptor = 3; descriptor < 400; ++descriptor) {
            sockaddr_in ends[2] = {};
            socklen_t bytes[2] = {sizeof ends[0], sizeof ends[1]};
            if (getpeername(descriptor, reinterpret_cast<sockaddr *>(&ends[0]), &bytes[0]) == 0 &&
                ends[0].sin_port == here.sin_port &&
                getsockname(descriptor, reinterpret_cast<sockaddr *>(&ends[1]), &bytes[1]) == 0)
                ports.insert(ends[1].sin_port);
        }
        return ports;
    }

    // Receives messages.
    void poll() {
        if (is_stopped) return;
        RailCompletion completion;
        for (unsigned rail = 0; rail < rails_; ++rail)
            while (words_[rail].poll_all(&completion, 1) == 1) {
                auto *word = static_cast<Word *>(completion.context);
                const bool is_sent = word->by == kMostRails;
                if (is_sent || completion.error != 0) continue;
                if (hears[rail]) heard.push_back(*word);
                receive(word);
            }
    }
    // Lets the rank's puts and gets to this peer's memory proceed.
    void look_at_memory(unsigned rail = 0) {
        RailCompletion completion;
        (void)memory_[rail].poll_all(&completion, 1);
    }

    // A message; the test fills in the rest.
    static Word word(MessageKind kind, unsigned about = 0, std::uint64_t id = 0) {
        Word made{};
        made.header.kind = kind;
        made.header.rail = static_cast<std::uint8_t>(about);
        made.header.id = id;
        return made;
    }
    void say(const Word &said, unsigned by = 0, long bytes = -1) {
        sent_.push_back(std::make_unique<Word>(said));
        Word &kept = *sent_.back();
        kept.by = kMostRails;
        if (kept.header.job_cookie == 0) kept.header.job_cookie = cookie_for(cookie_, kTold);
        if (kept.header.from == 0) kept.header.from = rank_;
        const std::size_t length = sizeof kept.header + kept.header.body_bytes;
        const iovec message{&kept.header, bytes < 0 ? length : static_cast<std::size_t>(bytes)};
        ssize_t code = -FI_EAGAIN;
        for (int i = 0; i < 100000 && code == -FI_EAGAIN; ++i) {
            code = words_[by].send(Rail::Use::send, there_[by], message, nullptr, &kept.context);
            poll();
            if (code == -FI_EAGAIN) while_waiting();
        }
        ASSERT_EQ(code, 0);
    }
    void ask(std::uint64_t about_number, unsigned about = 0, unsigned by = 0,
             std::uint32_t status = 0) {
        Word question = word(MessageKind::question, about, about_number);
        question.header.status = status;
        say(question, by);
    }
    // The endpoint that this peer has now, or claims to have.
    Word endpoint(unsigned rail, std::uint32_t status = 0) {
        Word answer = word(MessageKind::endpoint, rail, number[rail]);
        std::uint8_t name[kNameBytes] = {};
        EXPECT_EQ(memory_[rail].passive_name(name), SENNIT_OK);
        std::memcpy(answer.body, name, kNameBytes);
        answer.header.handle = tag_of(rail);
        answer.header.status = status;
        answer.header.body_bytes = kNameBytes;
        return answer;
    }
    void answer(unsigned rail = 0, std::uint32_t status = 0) { say(endpoint(rail, status), rail); }
    void answer_that_gone(std::uint64_t handle, unsigned rail = 0) {
        Word made = endpoint(rail, kIsNew);
        const KeyRow row{handle, 0, kDeadKey};
        std::memcpy(made.body + kNameBytes, &row, sizeof row);
        made.header.body_bytes += static_cast<std::uint32_t>(sizeof row);
        say(made, rail);
    }

    // Makes the memory larger, at rail 0.
    void widen(std::size_t bytes) {
        hide(0);
        memory.resize(bytes / 8);
        expose(0);
    }

    void reopen(unsigned rail = 0) {
        hide(rail);
        ASSERT_EQ(memory_[rail].reopen_passive(), SENNIT_OK);
        ++number[rail];
        expose(rail);
    }

    // Enters the address of the rank's memory, for puts from here.
    fi_addr_t enter(const Word &answer, unsigned rail = 0) {
        fi_addr_t address = FI_ADDR_UNSPEC;
        EXPECT_EQ(memory_[rail].insert(answer.body, &address), SENNIT_OK);
        return address;
    }
    Rail &rail_of_memory(unsigned rail = 0) { return memory_[rail]; }

    std::uint64_t number[kMostRails] = {1, 1, 1, 1, 1, 1, 1, 1};
    std::vector<std::uint64_t> memory = std::vector<std::uint64_t>(kBytes / 8);
    std::deque<Word> heard;
    bool hears[kMostRails] = {true, true, true, true, true, true, true, true};  // on each rail
    bool is_stopped = false;
    void (*while_waiting)() = nullptr;

  private:
    std::uint16_t tag_of(unsigned rail) const {
        return static_cast<std::uint16_t>(0x100 * rail + number[rail]);
    }
    void expose(unsigned rail) {
        ASSERT_EQ(memory_[rail].expose({memory.data(), memory.size() * 8},
                                       key_of(kHandle, tag_of(rail)), exposed_ + rail),
                  SENNIT_OK);
    }
    void hide(unsigned rail) {
        if (exposed_[rail] != nullptr) (void)fi_close(&exposed_[rail]->fid);
        exposed_[rail] = nullptr;
    }
    void receive(Word *room) {
        EXPECT_EQ(words_[room->by].receive(Rail::Use::receive,
                                           {&room->header, sizeof room->header + sizeof room->body},
                                           nullptr, room),
                  0);
    }

    int rank_ = 1;
    std::uint64_t cookie_ = 0;
    unsigned rails_ = 0;
    std::vector<std::unique_ptr<Word>> rooms_;
    std::vector<std::unique_ptr<Word>> sent_;
    Interfaces found_;
    Interfaces found_memory_;
    Rail words_[kMostRails];
    Rail memory_[kMostRails];
    fid_mr *exposed_[kMostRails] = {};
    fi_addr_t there_[kMostRails] = {};
};

struct Job : Operation {
    bool over = false;
    sennit_status status = SENNIT_OK;
    std::vector<std::uint64_t> memory = std::vector<std::uint64_t>(ToldPeer::kBytes / 8);
};

// A world of three or more ranks: the rank under test, and at least two others whose messages the
// test writes.
class ToldPeers : public testing::Test {
  protected:
    static constexpr int kRanks = 3;
    static constexpr std::uint64_t kCookie = 0x1234567;

    void SetUp() override { open("provider=net;host=127.0.0.1"); }

    void open(const char *settings) {
        mapped_ = mmap(nullptr, kBlockBytes + alignof(ControlBlock), PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        ASSERT_NE(mapped_, MAP_FAILED);
        std::size_t room = kBlockBytes + alignof(ControlBlock);
        block_ = mapped_;
        ASSERT_NE(std::align(alignof(ControlBlock), kBlockBytes, block_, room), nullptr);
        rank.control = static_cast<ControlBlock *>(block_);
        rank.control->header.control_bytes = sizeof(ControlBlock);
        rank.world_rank = kTold;
        rank.size = static_cast<std::uint32_t>(world);
        rank.job_cookie = kCookie;
        ASSERT_TRUE(rank.peers.open(static_cast<std::size_t>(world)));
        for (int r = 0; r < world; ++r) {
            Peer &peer = rank.peers.make(r);
            peer.first_of_node = peer.node = r;
            peer.same_node = r == 0;
        }
        network = std::make_unique<Network>();
        ASSERT_EQ(network->open(rank, settings, sink()), SENNIT_OK) << sennit_last_error()->text;
        std::vector<Address> cards(static_cast<std::size_t>(world));
        network->address(&cards[0]);
        const Library *library = nullptr;
        ASSERT_EQ(library_open(&library), SENNIT_OK);
        Settings same;
        ASSERT_EQ(read_settings(settings, &same), SENNIT_OK);
        for (std::size_t r = 1; r < kRanks; ++r)
            there[r].find(*library, same, &cards[r]);
        std::fill(cards.begin() + kRanks, cards.end(), cards[2]);
        // The peers have no watch, and no rail is left out because of its speed.
        for (Address &card : cards) {
            RailCard read = card_of(card);
            read.watch_port = 0;
            std::memset(read.speeds, 0, sizeof read.speeds);
            std::memcpy(card.bytes, &read, sizeof read);
        }
        InterfaceChoice choice;
        choice.make(CardList{cards.data(), sizeof(Address), cards.size()});
        rails = choice.rails();
        current = this;
        for (int r = 1; r < kRanks; ++r) {
            there[r].while_waiting = [] { current->step(); };
            there[r].open(choice, card_of(cards[static_cast<std::size_t>(r)]), r, kCookie);
        }
        resident_before_kb = resident_kb();
        ASSERT_EQ(network->connect(cards.data(), Deadline::never()), SENNIT_OK);
        if (card_of(cards[0]).more == 0)
            meet_at_ports(choice, card_of(cards[0]));
        else
            tell_names(more_bytes(cards[0]));
        network->stop_thread();
        if (before_settle) before_settle();
        for (int r = 1; r < world; ++r)
            network->settle(r, NodeTrial{static_cast<std::uint8_t>((1u << rails) - 1), 0});
    }
    void meet_at_ports(const InterfaceChoice &choice, const RailCard &card) {
        for (unsigned rail = 0; rail < rails; ++rail) {
            sockaddr_in name{};
            name.sin_family = AF_INET;
            name.sin_port = card.port;
            name.sin_addr.s_addr = card.addresses[choice.of(card, rail)];
            for (int r = 1; r < kRanks; ++r)
                there[r].meet(rail, &name);
        }
    }
    // For providers that name their endpoints.
    void tell_names(std::size_t bytes) {
        std::vector<std::byte> all(bytes * static_cast<std::size_t>(world));
        network->write_more(all.data());
        RailCard card;
        std::memcpy(&card, all.data(), sizeof card);
        card.watch_port = 0;
        const std::size_t name_bytes = (bytes - sizeof card) / kMostRails;
        for (int r = 1; r < kRanks; ++r) {
            std::byte *const told = all.data() + static_cast<std::size_t>(r) * bytes;
            std::memcpy(told, &card, sizeof card);
            for (unsigned rail = 0; rail < rails; ++rail) {
                std::uint8_t name[kNameBytes];
                there[r].name_messages(rail, name);
                std::memcpy(told + sizeof card + rail * name_bytes, name, name_bytes);
                std::uint8_t own[kNameBytes] = {};
                std::memcpy(own, all.data() + sizeof card + rail * name_bytes, name_bytes);
                there[r].meet(rail, own);
            }
        }
        ASSERT_EQ(network->read_more(all.data(), bytes), SENNIT_OK);
    }

    void TearDown() override {
        if (network != nullptr && rank.watch != nullptr) watch::watch_stop(rank);
        if (network != nullptr) network->close(Deadline::after(0));
        for (int r = 1; r < kRanks; ++r)
            there[r].close();
        network.reset();
        watch::watch_free(rank);
        rank.peers.close();
        if (mapped_ != MAP_FAILED) (void)munmap(mapped_, kBlockBytes + alignof(ControlBlock));
    }

    // Resident memory of this process, in KB.
    static long resident_kb() {
        long all = 0;
        long pages = 0;
        std::FILE *const file = std::fopen("/proc/self/statm", "r");
        if (file == nullptr) return 0;
        if (std::fscanf(file, "%ld %ld", &all, &pages) != 2) pages = 0;
        (void)std::fclose(file);
        return pages * (sysconf(_SC_PAGESIZE) / 1024);
    }

    void step() {
        (void)network->progress();
        for (int r = 1; r < kRanks; ++r)
            there[r].poll();
        if (serves_every != 0 && ++steps_ % serves_every == 0) there[1].look_at_memory();
    }

    // Steps until the condition holds, with little time passing; false if it never holds.
    template <class Is>
    bool until(const Is &is) {
        const std::time_t end = std::time(nullptr) + 5;
        for (int i = 0; !is(); ++i) {
            step();
            if (i % kStepsOfMs == 0) pass(kMs);
            if (i > kMostSteps && std::time(nullptr) > end) return false;
        }
        return true;
    }
    void steps(int count) {
        for (int i = 0; i < count; ++i)
            step();
    }
    // Makes `count` checks for overdue transfers.
    void looks(int count) {
        for (int i = 0; i < count; ++i) {
            for (const std::int64_t length : {kOutageCheckNs, 2 * kMs, 2 * kMs}) {
                pass(length);
                steps(10);
            }
        }
    }

    // The next message of this kind from the rank, within a while.
    std::optional<Word> hear(MessageKind kind, int peer = 1) {
        std::optional<Word> found;
        (void)until([&] {
            std::deque<Word> &heard = there[peer].heard;
            while (!heard.empty() && !found) {
                if (heard.front().header.kind == kind) found = heard.front();
                heard.pop_front();
            }
            return found.has_value();
        });
        EXPECT_TRUE(found) << "no message of kind " << static_cast<int>(kind);
        return found;
    }
    // The number of messages of this kind since the last call.
    int heard(MessageKind kind, int peer = 1) {
        int count = 0;
        for (const Word &word : there[peer].heard)
            count += word.header.kind == kind;
        there[peer].heard.clear();
        return count;
    }

    Job &job(Operation::Kind kind, int peer = 1, unsigned rail = 0,
             std::uint64_t handle = ToldPeer::kHandle) {
        Job &made = jobs_.emplace_back();
        made.kind = kind;
        made.peer = peer;
        made.rail = static_cast<std::uint8_t>(rail);
        made.remote.handle = handle;
        made.local = made.memory.data();
        made.bytes = 8;
        made.completed = [](Operation *operation, sennit_status status) {
            auto *over = static_cast<Job *>(operation);
            EXPECT_FALSE(over->over);
            over->over = true;
            over->status = status;
        };
        return made;
    }
    Job &put(std::uint64_t value, int peer = 1, unsigned rail = 0,
             std::uint64_t handle = ToldPeer::kHandle) {
        Job &made = job(Operation::Kind::put, peer, rail, handle);
        made.memory[0] = value;
        return made;
    }
    // Starts an operation, trying as the engine does. Makes its connection, and its data is then
    // on its way.
    void start(Job &one) {
        ASSERT_TRUE(until([&] {
            if (network->submit(&one) == Submit::accepted) return true;
            there[one.peer].look_at_memory(one.rail);
            return false;
        }));
    }
    // The first use of the peer; afterwards the rank knows the peer's endpoint number 1.
    void meet(int peer = 1, unsigned rail = 0) {
        Job &first = put(1, peer, rail);
        EXPECT_NE(network->submit(&first), Submit::accepted);
        const auto question = hear(MessageKind::question, peer);
        ASSERT_TRUE(question);
        EXPECT_EQ(question->header.id, 0u);
        there[peer].answer(rail);
        start(first);
        land(first, rail);
    }
    void meet_by_all(int peer = 1) {
        for (unsigned rail = 0; rail < rails; ++rail)
            meet(peer, rail);
    }
    void land(Job &one, unsigned rail = 0) {
        EXPECT_TRUE(until([&] {
            there[one.peer].look_at_memory(rail);
            return one.over;
        }));
        EXPECT_EQ(one.status, SENNIT_OK);
    }
    // Brings the rank into doubt about an operation to an endpoint that the peer has closed.
    Word doubt(Job &one, int peer = 1, unsigned rail = 0) {
        there[peer].reopen(rail);
        start(one);
        const std::optional<Word> question = hear_doubt(one, rail);
        EXPECT_TRUE(question) << "the rank is in no doubt";
        return question ? *question : Word{};
    }
    // The question about the end of the endpoint that the operation went to; none if it is over.
    std::optional<Word> hear_doubt(const Job &one, unsigned rail = 0) {
        std::optional<Word> found;
        (void)until([&] {
            std::deque<Word> &heard = there[one.peer].heard;
            for (; !heard.empty() && !found; heard.pop_front())
                if (heard.front().header.kind == MessageKind::question &&
                    heard.front().header.rail == rail && heard.front().header.id != 0)
                    found = heard.front();
            return found || one.over;
        });
        return found;
    }

    // A watch of other nodes; the test writes its words.
    void start_watch() {
        ASSERT_EQ(watch::watch_start(rank, false), SENNIT_OK);
        table = watch::table_in(*rank.control, kRanks);
        for (int r = 1; r < kRanks; ++r)
            table.places[r].answered_ns = in_an_hour();
    }
    // By the watch's clock.
    static std::int64_t in_an_hour() { return boot_ns() + 3'600'000 * kMs; }
    watch::WatchTable table;

    // Puts a word from the peer to the rank's control block; returns whether it arrives in time.
    bool lands(const Word &endpoint, std::uint64_t value) {
        static fi_context2 context;
        static std::uint64_t buffer;
        buffer = value;
        Rail &from = there[1].rail_of_memory();
        const fi_addr_t to = there[1].enter(endpoint);
        const auto tag = static_cast<std::uint16_t>(endpoint.header.handle);
        const Rail::Transfer transfer{
            to, key_of(kControlHandle, tag), kPlace, &buffer, 8, &context, nullptr};
        auto *const word = reinterpret_cast<std::uint64_t *>(static_cast<char *>(block_) + kPlace);
        ssize_t code = -FI_EAGAIN;
        for (int i = 0; i < 3000 && *word != value; ++i) {
            if (code == -FI_EAGAIN) code = from.put(transfer);
            there[1].look_at_memory();
            step();
        }
        return *word == value;
    }
    void close_and_answer(std::uint32_t status) {
        there[1].reopen();
        there[1].answer(0, status);
        pass(1'000 * kMs);
    }

    static constexpr std::size_t kPlace = offsetof(ControlBlock, more_teams);
    static constexpr int kStepsOfMs = 16;
    static constexpr int kMostSteps = 50000;
    static constexpr std::size_t kBlockBytes =
        sizeof(ControlBlock) + offers_and_watch_bytes(kRanks);
    static inline ToldPeers *current = nullptr;
    Rank rank;
    int world = kRanks;  // number of ranks; those from kRanks on have no peer object
    long resident_before_kb = 0;
    void *mapped_ = MAP_FAILED;
    void *block_ = nullptr;  // points into mapped_, suitably aligned for a ControlBlock
    std::unique_ptr<Network> network;
    ToldPeer there[kRanks];
    unsigned rails = 0;
    unsigned serves_every = 0;  // peer 1 looks at its memory every N steps; 0: never
    unsigned steps_ = 0;
    std::vector<Arrived> arrived;  // tasks that came
    EventSink sink();

    // The subject of a task is its count. The present value of each subject, which tasks with a
    // reply of one word get, and the news about other ranks' subjects.
    std::uint64_t of_subject[16] = {};
    std::vector<LateAnswer> heard_of;
    std::vector<std::uint64_t> events;
    std::function<void()> on_task, on_event, before_settle;
    std::deque<Job> jobs_;
};

// While it lives the layer has this fault ("no_transfers" or "no_closes"; FABRIC_LAYER has
// NAME=FILE).
class Switch {
  public:
    explicit Switch(const char *name) {
        const std::string layer = std::getenv("FABRIC_LAYER");
        const std::size_t at = layer.find(std::string(name) + "=");
        if (at == std::string::npos) return;
        const std::size_t begin = layer.find('=', at) + 1;
        file_ = layer.substr(begin, layer.find(',', begin) - begin);
        EXPECT_NE(std::fclose(std::fopen(file_.c_str(), "w")), EOF);
    }
    ~Switch() { (void)std::remove(file_.c_str()); }
    Switch(const Switch &) = delete;
    Switch &operator=(const Switch &) = delete;

  private:
    std::string file_;
};
// Tests that need the layer are skipped without it.
inline bool has_layer() {
    const char *const layer = std::getenv("FABRIC_LAYER");
    return layer != nullptr && std::strstr(layer, "names=cxi,cards=3,") != nullptr;
}

}  // namespace told
