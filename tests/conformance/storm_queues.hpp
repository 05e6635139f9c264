// The queues of a program of stress_test.cpp: one of each rank, and on every rank producers of all
// of them. They are step 1 of the program.
#pragma once

#include <algorithm>
#include <array>
#include <map>

#include "harness.hpp"

namespace conformance {

class StormQueues {
  public:
    explicit StormQueues(Ranks &test) : test_(test) {
        // Only load and store reach queues.
        const bool is_drawn = test.load_store && !test.common.one_in(5);
        item_bytes_ = sizeof(Head) + test.common.below(200);
        capacity_ = test.common.one_in(3) ? 1 : test.common.between(2, 64);
        lanes_ = test.common.between(1, 2);
        items_ = test.common.between(1, test.quick ? 60 : 300);
        is_used_ = is_drawn && test.chosen.has(1);
        if (is_used_)
            test.show("step 1: queues of " + std::to_string(capacity_) + " items of " +
                      std::to_string(item_bytes_) + " bytes");
        items_room_.resize(kMost * item_bytes_);
    }

    // Collective, like close().
    void open() {
        if (!is_used_) return;
        const auto producers = static_cast<unsigned>(lanes_) * static_cast<unsigned>(test_.size);
        sennit_queue_address mine{};
        test_.ok(sennit_queue_create(item_bytes_, capacity_, producers, &queue_, &mine));
        left_to_pop_ = items_ * producers;
        const auto addresses = test_.tell_all(mine);
        for (const sennit_queue_address &address : addresses) {
            for (std::uint32_t lane = 0; lane < lanes_; ++lane) {
                producers_.push_back({address, lane, 0, 0, items_, SENNIT_PRODUCER_NULL});
                attach(producers_.back());
            }
        }
    }

    bool has_pushed_all() const { return producers_.empty(); }
    bool is_open() const { return !producers_.empty() || left_to_pop_ > 0; }

    // Both return whether an item has moved.
    bool push_some() {
        if (producers_.empty()) return false;
        const std::size_t number = test_.own.below(producers_.size());
        Producer &producer = producers_[number];
        const std::size_t most = std::min(test_.own.between(1, kMost), producer.left);
        const bool has_moved = push(producer, most, test_.own.one_in(2)) > 0;
        if (producer.left == 0) {
            test_.ok(sennit_queue_detach(producer.handle));
            producers_.erase(producers_.begin() + static_cast<std::ptrdiff_t>(number));
        } else if (test_.own.one_in(40)) {
            // Older items of this producer may come out after its newer ones.
            test_.ok(sennit_queue_detach(producer.handle));
            producer.number = 0;
            ++producer.turn;
            attach(producer);
        }
        return has_moved;
    }

    bool pop_some(std::int64_t timeout_ns) {
        const std::size_t most = std::min(test_.own.between(1, kMost), left_to_pop_);
        if (most == 0) return false;
        if (test_.own.one_in(2)) {
            std::size_t popped = 0;
            const sennit_status status =
                sennit_queue_pop_many(queue_, items_room_.data(), most, timeout_ns, &popped);
            test_.is(status, popped == 0 ? SENNIT_ERR_TIMEOUT : SENNIT_OK);
            for (std::size_t i = 0; i < popped; ++i)
                check(item_at(i));
            return popped > 0;
        }
        std::size_t popped = 0;
        for (; popped < most; ++popped) {
            const sennit_status status =
                sennit_queue_pop(queue_, item_at(0), popped > 0 ? 0 : timeout_ns);
            if (status == SENNIT_ERR_TIMEOUT) break;
            test_.ok(status);
            check(item_at(0));
        }
        return popped > 0;
    }

    void close() {
        if (!is_used_) return;
        test_.is(sennit_queue_pop(queue_, item_at(0), 0), SENNIT_ERR_TIMEOUT);
        test_.ok(sennit_queue_destroy(queue_));
    }

  private:
    static constexpr std::uint64_t kMost = 8;  // items per turn

    // The start of an item; the rest is a pattern.
    struct Head {
        std::uint32_t rank;
        std::uint32_t lane;
        std::uint64_t turn;    // the attachment's number
        std::uint64_t number;  // within this attachment
    };
    struct Producer {
        sennit_queue_address address;
        std::uint32_t lane;
        std::uint64_t turn;
        std::uint64_t number;
        std::uint64_t left;
        sennit_producer handle;
    };

    static std::uint64_t salt_of(const Head &head) {
        return Random((head.rank * 64 + head.lane) * 1000003 + head.turn).next() + head.number;
    }

    // There are as many places as producers, but another rank may have the place that was left.
    void attach(Producer &producer) {
        const std::uint64_t never = 0;
        for (;;) {
            const sennit_status status = sennit_queue_attach(producer.address, &producer.handle);
            if (status != SENNIT_ERR_NOMEM) return test_.ok(status);
            (void)sennit_signal_wait_word(&never, SENNIT_NOT_EQUAL, 0, 0);
        }
    }

    std::uint8_t *item_at(std::size_t i) { return items_room_.data() + i * item_bytes_; }

    // Pushes up to `count` items, by one call or one call each. Returns the number of pushed items.
    std::size_t push(Producer &producer, std::size_t count, bool at_once) {
        for (std::size_t i = 0; i < count; ++i) {
            const Head head{static_cast<std::uint32_t>(test_.rank), producer.lane, producer.turn,
                            producer.number + i};
            std::memcpy(item_at(i), &head, sizeof head);
            fill(item_at(i) + sizeof head, item_bytes_ - sizeof head, salt_of(head));
        }
        std::size_t pushed = 0;
        sennit_status status = SENNIT_OK;
        if (at_once)
            status = sennit_queue_push_many(producer.handle, item_at(0), count, 0, &pushed);
        while (!at_once && status == SENNIT_OK && pushed < count) {
            status = sennit_queue_push(producer.handle, item_at(pushed), 0);
            if (status == SENNIT_OK) ++pushed;
        }
        test_.is(status, pushed == count ? SENNIT_OK : SENNIT_ERR_TIMEOUT);
        producer.number += pushed;
        producer.left -= pushed;
        return pushed;
    }

    void check(const std::uint8_t *item) {
        Head head{};
        std::memcpy(&head, item, sizeof head);
        test_.require(head.rank < static_cast<std::uint32_t>(test_.size) && head.lane < lanes_,
                      "the producer of the item exists");
        test_.equal(head.number, next_[{head.rank, head.lane, head.turn}]++);
        check_pattern(test_, item + sizeof head, item_bytes_ - sizeof head, salt_of(head));
        --left_to_pop_;
    }

    Ranks &test_;
    bool is_used_ = false;
    std::size_t item_bytes_ = 0;
    std::size_t capacity_ = 0;
    std::uint64_t lanes_ = 0;  // of each rank
    std::uint64_t items_ = 0;  // of each lane
    sennit_queue queue_ = SENNIT_QUEUE_NULL;
    std::vector<Producer> producers_;
    std::uint64_t left_to_pop_ = 0;
    std::map<std::array<std::uint64_t, 3>, std::uint64_t> next_;
    std::vector<std::uint8_t> items_room_;  // for the items of a call
};

}  // namespace conformance
