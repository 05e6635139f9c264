// Messages with events by several rails. With two ranks: a ping-pong of the bare provider by each
// rail alone, and of Sennit by all of them. With four ranks, two on each of two hosts: each has a
// partner on the other host, runs several ping-pongs with it at a time, and computes between a
// message and its answer. With the bare provider each pair has its own rail; Sennit's pairs share
// all rails: figure 5 of the paper on UNR (Feng et al., "UNR: Unified Notifiable RMA Library for
// HPC").
//
// A computation takes as long as a message by one rail alone, or a random time from a normal
// distribution around that. If ranks share cores it is a sleep, else a spin. Meanwhile the program
// polls the bare provider's rail, because nothing else does.
#include <sennit/sennit.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <memory>
#include <random>
#include <stdexcept>
#include <vector>

#include "worker/cases.hpp"
#include "worker/check.hpp"
#include "worker/private_buffer.hpp"
#include "worker/raw_network.hpp"
#include "worker/spin.hpp"

namespace sennit::bench {

namespace {

// The number of ping-pongs of a pair: as in the paper, and enough to keep ranks and rails busy if a
// computation takes as long as a message.
constexpr unsigned kSteadyStreams = 2;
constexpr unsigned kUnsteadyStreams = 4;
static_assert(kUnsteadyStreams <= RawNetwork::kStreams);
constexpr double kDeviation = 0.3;  // of the time of a computation
constexpr double kPauseNs = 20e3;   // between polls if ranks share cores
constexpr std::size_t kLeastTrips =
    4;  // in a batch, so that the sums of random times differ little
constexpr std::size_t kNoStride =
    1 << 30;  // only the first and the last word of a message are checked

void sleep_ns(double duration) {
    const auto whole = static_cast<long>(std::max(duration, 0.0));
    const timespec time{whole / 1'000'000'000, whole % 1'000'000'000};
    (void)nanosleep(&time, nullptr);
}

// Ranks with the same number on their nodes.
struct Partners {
    int self = 0;
    int partner = -1;
    int pair = 0;

    bool starts() const { return self < partner; }
};

Partners find_partners(const Job &job) {
    struct Place {
        int node;  // the first rank on it
        int at;    // number on the node
    };
    Place mine{};
    check(sennit_team_world_rank(SENNIT_TEAM_NODE, 0, &mine.node), "sennit_team_world_rank");
    check(sennit_team_rank(SENNIT_TEAM_NODE, &mine.at), "sennit_team_rank");
    std::vector<Place> all(static_cast<std::size_t>(job.size()));
    check(sennit_allgather(SENNIT_TEAM_WORLD, &mine, all.data(), sizeof mine, SENNIT_FOREVER),
          "sennit_allgather");
    Partners found{job.rank(), -1, mine.at};
    for (int rank = 0; rank < job.size(); ++rank) {
        const Place &other = all[static_cast<std::size_t>(rank)];
        if (other.node != mine.node && other.at == mine.at) found.partner = rank;
    }
    if (found.partner < 0) throw std::runtime_error("the two hosts have not as many ranks");
    return found;
}

// Sends and receives the messages of several streams.
class Exchange {
  public:
    virtual ~Exchange() = default;
    virtual void start(unsigned stream, const std::byte *from) = 0;
    virtual bool take(unsigned stream) = 0;  // whether one has arrived
    // Waits for a message, when there is nothing else to do; may return earlier.
    virtual void await(bool shares_cores) {
        if (shares_cores) sleep_ns(kPauseNs);
    }
    virtual const std::byte *place(unsigned stream) const = 0;
    // Whether only the program's polls move messages while it computes.
    virtual bool wants_looks() const = 0;
    virtual void look() {}
    virtual void finish() {}  // waits until all messages are sent
};

class RawExchange : public Exchange {
  public:
    RawExchange(const Job &job, const Partners &partners, int rail, unsigned streams,
                std::size_t bytes)
        : m_bytes(bytes),
          m_network(job, streams * bytes, partners.partner,
                    job.rail_addresses().at(static_cast<std::size_t>(rail))) {}
    void start(unsigned stream, const std::byte *from) override {
        m_network.start_event(stream, from, m_bytes);
        ++m_started;
    }
    bool take(unsigned stream) override { return m_network.take_event(stream); }
    const std::byte *place(unsigned stream) const override {
        return m_network.memory() + stream * m_bytes;
    }
    bool wants_looks() const override { return true; }
    void look() override { m_network.look(); }
    void finish() override { m_network.finish_events(m_started); }
    const std::string &provider() const { return m_network.provider(); }

  private:
    std::size_t m_bytes;
    std::size_t m_started = 0;
    RawNetwork m_network;
};

// Each message is divided into equal parts, one for each rail, and is complete when all have
// arrived. This is the usual code of a program that shares rails.
class PartsExchange : public Exchange {
  public:
    PartsExchange(const Job &job, const Partners &partners, unsigned streams, std::size_t bytes)
        : m_parts(static_cast<std::size_t>(job.rails())), m_part_bytes(bytes / m_parts) {
        for (int rail = 0; rail < job.rails(); ++rail)
            m_rails.push_back(
                std::make_unique<RawExchange>(job, partners, rail, streams, m_part_bytes));
        m_come.resize(streams * m_parts);
        m_message.resize(bytes);
    }
    void start(unsigned stream, const std::byte *from) override {
        for (std::size_t rail = 0; rail < m_parts; ++rail)
            m_rails[rail]->start(stream, from + rail * m_part_bytes);
    }
    bool take(unsigned stream) override {
        bool are_all_there = true;
        for (std::size_t rail = 0; rail < m_parts; ++rail) {
            bool &has_come = m_come[stream * m_parts + rail].value;
            has_come = has_come || m_rails[rail]->take(stream);
            are_all_there &= has_come;
        }
        for (std::size_t rail = 0; are_all_there && rail < m_parts; ++rail)
            m_come[stream * m_parts + rail].value = false;
        return are_all_there;
    }
    // Only the first and the last word are checked.
    const std::byte *place(unsigned stream) const override {
        constexpr std::size_t kWord = sizeof(std::uint64_t);
        std::memcpy(m_message.data(), m_rails.front()->place(stream), kWord);
        std::memcpy(m_message.data() + m_message.size() - kWord,
                    m_rails.back()->place(stream) + m_part_bytes - kWord, kWord);
        return m_message.data();
    }
    bool wants_looks() const override { return true; }
    void look() override {
        for (const auto &rail : m_rails)
            rail->look();
    }
    void finish() override {
        for (const auto &rail : m_rails)
            rail->finish();
    }
    const std::string &provider() const { return m_rails.front()->provider(); }

  private:
    struct Come {
        bool value = false;
    };
    std::size_t m_parts;
    std::size_t m_part_bytes;
    std::vector<std::unique_ptr<RawExchange>> m_rails;
    std::vector<Come> m_come;
    mutable std::vector<std::byte> m_message;
};

// A block and a signal for each stream. Collective.
class NotifiedExchange : public Exchange {
  public:
    NotifiedExchange(const Job &job, int partner, unsigned streams, std::size_t bytes)
        : m_bytes(bytes), m_streams(streams) {
        check(sennit_alloc(SENNIT_TEAM_WORLD, streams * bytes, 4096, 0, &m_memory), "sennit_alloc");
        check(sennit_waitset_create(&m_arrivals), "sennit_waitset_create");
        for (Stream &stream : m_streams) {
            const auto at = static_cast<std::size_t>(&stream - m_streams.data()) * bytes;
            check(sennit_signal_create(1, 1, 0, &stream.arrived), "sennit_signal_create");
            check(sennit_waitset_add(m_arrivals, stream.arrived, 0), "sennit_waitset_add");
            sennit_block mine;
            check(sennit_block_init({m_memory, streams * bytes}, at, bytes, SENNIT_SIGNAL_NULL,
                                    stream.arrived, &mine),
                  "sennit_block_init");
            std::vector<sennit_block> blocks(static_cast<std::size_t>(job.size()));
            check(sennit_allgather(SENNIT_TEAM_WORLD, &mine, blocks.data(), sizeof mine,
                                   SENNIT_FOREVER),
                  "sennit_allgather");
            check(sennit_block_attach(&blocks[static_cast<std::size_t>(partner)], &stream.there),
                  "sennit_block_attach");
        }
    }
    ~NotifiedExchange() override {
        (void)sennit_waitset_destroy(m_arrivals);
        for (Stream &stream : m_streams) {
            (void)sennit_wait(&stream.sent, SENNIT_FOREVER);
            (void)sennit_block_detach(stream.there);
            (void)sennit_signal_destroy(stream.arrived);
        }
    }
    NotifiedExchange(const NotifiedExchange &) = delete;
    NotifiedExchange &operator=(const NotifiedExchange &) = delete;

    void start(unsigned number, const std::byte *from) override {
        Stream &stream = m_streams[number];
        // The request of the last message, which has been answered.
        check(sennit_wait(&stream.sent, SENNIT_FOREVER), "sennit_wait");
        check(sennit_put_notify_nb(stream.there, 0, from, m_bytes, nullptr, &stream.sent),
              "sennit_put_notify_nb");
    }
    bool take(unsigned number) override {
        const sennit_signal arrived = m_streams[number].arrived;
        int has_come = 0;
        check(sennit_signal_test(arrived, &has_come), "sennit_signal_test");
        if (has_come != 0) check(sennit_signal_reset(arrived), "sennit_signal_reset");
        return has_come != 0;
    }
    void await(bool) override {
        sennit_fired fired;
        check(sennit_waitset_wait_any(m_arrivals, SENNIT_FOREVER, &fired),
              "sennit_waitset_wait_any");
    }
    const std::byte *place(unsigned stream) const override {
        return static_cast<const std::byte *>(sennit_ptr(m_memory)) + stream * m_bytes;
    }
    bool wants_looks() const override { return false; }

  private:
    struct Stream {
        sennit_signal arrived = SENNIT_SIGNAL_NULL;
        sennit_peer_block there = SENNIT_PEER_BLOCK_NULL;
        sennit_request sent = SENNIT_REQUEST_NULL;
    };
    sennit_gptr m_memory = SENNIT_GPTR_NULL;
    sennit_waitset m_arrivals = SENNIT_WAITSET_NULL;
    std::size_t m_bytes;
    std::vector<Stream> m_streams;
};

struct Game {
    const Job &job;
    Partners partners;
    std::byte *outgoing;
    std::size_t bytes;
    unsigned streams;
    double compute_ns = 0.0;  // mean
    double deviation = 0.0;   // relative to the mean
};

// One rank's side of the ping-pongs.
class Player {
  public:
    Player(const Game &game, Exchange &exchange) : m_game(game), m_exchange(exchange) {}

    // Makes `trips` round trips in each stream. The same `seed` gives the same computations.
    void play(std::size_t trips, unsigned seed) {
        m_normal.reset();
        m_draws.seed(seed * static_cast<unsigned>(m_game.job.size()) +
                     static_cast<unsigned>(m_game.partners.self));
        std::array<std::size_t, RawNetwork::kStreams> to_send{};
        std::size_t to_take = trips * m_game.streams;
        for (unsigned stream = 0; stream < m_game.streams; ++stream) {
            to_send[stream] = trips;
            if (m_game.partners.starts()) m_ready.push_back(stream);
        }
        while (to_take > 0 || !m_ready.empty()) {
            const std::size_t before = to_take;
            for (unsigned stream = 0; stream < m_game.streams; ++stream) {
                if (!m_exchange.take(stream)) continue;
                take(stream);
                --to_take;
                if (to_send[stream] > 0) m_ready.push_back(stream);
            }
            if (!m_ready.empty()) {
                const unsigned stream = m_ready.front();
                m_ready.pop_front();
                compute();
                send(stream);
                --to_send[stream];
            } else if (before == to_take) {
                m_exchange.await(m_game.job.is_oversubscribed());
            }
        }
        m_exchange.finish();
    }

  private:
    void take(unsigned stream) {
        // The rank that starts receives the number that it has sent.
        if (!m_game.partners.starts()) ++m_numbers[stream];
        if (!consume(m_exchange.place(stream), m_game.bytes, m_numbers[stream], kNoStride))
            throw std::runtime_error("a message did not arrive as it was sent");
    }
    void send(unsigned stream) {
        if (m_game.partners.starts()) ++m_numbers[stream];
        std::byte *const from = m_game.outgoing + stream * m_game.bytes;
        stamp(from, m_game.bytes, m_numbers[stream], kNoStride);
        m_exchange.start(stream, from);
    }
    void compute() {
        const double drawn = 1.0 + m_game.deviation * m_normal(m_draws);
        const double end = now_ns() + m_game.compute_ns * drawn;
        for (double left = end - now_ns(); left > 0.0; left = end - now_ns()) {
            m_exchange.look();
            if (!m_game.job.is_oversubscribed()) continue;
            sleep_ns(m_exchange.wants_looks() ? std::min(left, kPauseNs) : left);
        }
    }

    Game m_game;
    Exchange &m_exchange;
    std::deque<unsigned> m_ready;
    std::array<std::uint64_t, RawNetwork::kStreams> m_numbers{};
    std::mt19937 m_draws;
    std::normal_distribution<double> m_normal;
};

Subject subject(std::string name, const Game &game, std::shared_ptr<Exchange> exchange,
                std::string provider = {}) {
    auto player = std::make_shared<Player>(game, *exchange);
    return {std::move(name),
            // The exchange lives as long as its player.
            [=, starts = game.partners.starts(), seed = 0U](std::size_t trips) mutable {
                (void)exchange;
                player->play(1, ++seed);
                const double start = now_ns();
                player->play(trips, seed);
                return starts ? Interval{start, now_ns()} : kNotTimed;
            },
            std::move(provider)};
}

Subject by_rail(const Game &game, int rail, const std::string &suffix) {
    auto exchange =
        std::make_shared<RawExchange>(game.job, game.partners, rail, game.streams, game.bytes);
    const std::string provider = exchange->provider();
    return subject("raw-" + provider + suffix, game, std::move(exchange), provider);
}

// A baseline, not a raw limit.
Subject by_parts(const Game &game) {
    auto exchange =
        std::make_shared<PartsExchange>(game.job, game.partners, game.streams, game.bytes);
    const std::string provider = exchange->provider();
    return subject("hand-" + provider + "-parts", game, std::move(exchange), provider);
}

Subject by_sennit(const Game &game) {
    return subject("sennit-put-notify", game,
                   std::make_shared<NotifiedExchange>(game.job, game.partners.partner, game.streams,
                                                      game.bytes));
}

void measure(const Run &run, const char *name, const Game &game, std::vector<Subject> subjects,
             double trip_ns) {
    Limits limits = run.limits;
    limits.batch_ns = limits.shared_batch_ns = kLeastTrips * trip_ns;
    game.job.barrier();
    measure_in_turn(game.job, {name, game.bytes, 2.0 * game.streams, std::move(subjects)}, limits);
    game.job.barrier();
}

// A ping-pong of one pair, without computations.
void run_alone(const Run &run, const Game &game) {
    std::vector<Subject> subjects;
    for (int rail = 0; rail < run.job.rails(); ++rail)
        subjects.push_back(by_rail(game, rail, "-rail" + std::to_string(rail)));
    subjects.push_back(by_parts(game));
    subjects.push_back(by_sennit(game));
    measure(run, "rails", game, std::move(subjects), 1e6);
}

// Half a round trip by one rail alone, all pairs at the same time.
double find_message_ns(const Game &game, int rail) {
    constexpr std::size_t kTrips = 4;
    const Subject message = by_rail(game, rail, "");
    double least = 1e18;
    for (int tries = 0; tries < 3; ++tries) {
        game.job.barrier();
        least = std::min(least, game.job.span_over_ranks(message.run(kTrips)) / (2.0 * kTrips));
    }
    return least;
}

void run_pairs(const Run &run, Game game) {
    const int rail = game.partners.pair % run.job.rails();
    game.streams = 1;
    const double message_ns = find_message_ns(game, rail);
    game.compute_ns = message_ns;
    for (const bool is_steady : {true, false}) {
        game.streams = is_steady ? kSteadyStreams : kUnsteadyStreams;
        game.deviation = is_steady ? 0.0 : kDeviation;
        measure(run, is_steady ? "rails-steady" : "rails-unsteady", game,
                {by_rail(game, rail, "-own-rail"), by_parts(game), by_sennit(game)},
                4.0 * message_ns);
    }
}

}  // namespace

void run_rails(const Run &run) {
    if (!run.job.spans_nodes() || (run.job.size() != 2 && run.job.size() != 4))
        throw std::runtime_error("rails are measured by one or two pairs of ranks on two nodes");
    const std::uint64_t most = *std::max_element(run.sizes.begin(), run.sizes.end());
    const PrivateBuffer outgoing(most * kUnsteadyStreams, 1);
    const Partners partners = find_partners(run.job);
    for (const std::uint64_t bytes : run.sizes) {
        const Game game{run.job, partners, outgoing.data(), static_cast<std::size_t>(bytes), 1};
        if (run.job.size() == 2)
            run_alone(run, game);
        else
            run_pairs(run, game);
    }
}

}  // namespace sennit::bench
