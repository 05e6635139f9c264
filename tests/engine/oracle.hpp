// The possible contents of all ranks' memory, and the possible results of a get, derived only from
// the start and completion of operations. For every byte it keeps the candidates for the last
// write: a completed write removes all that were complete before its start, or that a fence or the
// order of its path put before it. It does not depend on the implementation of operations.
#pragma once

#include <algorithm>
#include <bitset>
#include <cstdint>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace sennit::test {

class Oracle {
  public:
    using Values = std::bitset<256>;

    struct Operation {
        int from = 0;
        int owner = 0;
        std::uint64_t offset = 0;
        bool is_put = false;
        bool over = false;
        std::uint64_t started = 0;
        std::uint64_t done = 0;  // 0: not yet
        std::uint64_t fence = 0;
        std::vector<std::byte> buffer;  // private buffer of the operation, never moved
        std::vector<Values> allowed;    // of a get, per byte
    };

    // `in_order`: puts from one rank to another arrive in the order of their start.
    Oracle(int ranks, std::size_t bytes, bool in_order)
        : in_order_(in_order),
          fences_(static_cast<std::size_t>(ranks)),
          cells_(static_cast<std::size_t>(ranks), std::vector<Cell>(bytes)) {
        Operation zeroes;  // the initial content, from nobody
        zeroes.from = -1;
        zeroes.is_put = zeroes.over = true;
        zeroes.done = ++clock_;
        operations_.push_back(zeroes);
        for (auto &memory : cells_)
            for (Cell &cell : memory)
                cell.push_back({0, std::byte{0}});
    }

    // The operation exists as long as the oracle.
    Operation *start(int from, int owner, bool is_put, std::uint64_t offset,
                     std::vector<std::byte> buffer) {
        const std::lock_guard<std::mutex> guard(lock_);
        const std::size_t id = operations_.size();
        Operation &made = operations_.emplace_back();
        made.from = from;
        made.owner = owner;
        made.is_put = is_put;
        made.offset = offset;
        made.started = ++clock_;
        made.fence = fences_[static_cast<std::size_t>(from)];
        made.buffer = std::move(buffer);
        if (is_put) {
            start_put(id, made);
        } else {
            for (std::size_t i = 0; i < made.buffer.size(); ++i) {
                Values values;
                for (const Candidate &candidate : cell(made, i))
                    values.set(std::to_integer<std::size_t>(candidate.value));
                made.allowed.push_back(values);
            }
            open_gets_.push_back(&made);
        }
        return &made;
    }

    // Returns the error, or "".
    std::string finish(Operation *operation, bool good) {
        const std::lock_guard<std::mutex> guard(lock_);
        if (operation->over) return "";
        operation->over = true;
        operation->done = ++clock_;
        if (operation->is_put) {
            if (good) supersede(*operation);
            return "";
        }
        open_gets_.erase(std::find(open_gets_.begin(), open_gets_.end(), operation));
        if (!good) return "";
        for (std::size_t i = 0; i < operation->buffer.size(); ++i) {
            if (operation->allowed[i].test(std::to_integer<std::size_t>(operation->buffer[i])))
                continue;
            return "a get of rank " + std::to_string(operation->from) + " from rank " +
                   std::to_string(operation->owner) + " at " + std::to_string(operation->offset) +
                   " returned a byte " + std::to_string(i) + " that nobody put there";
        }
        return "";
    }

    void fence(int from) {
        const std::lock_guard<std::mutex> guard(lock_);
        ++fences_[static_cast<std::size_t>(from)];
    }

    // Compares the memory of a rank when no operation is pending.
    std::string check(int owner, const std::byte *memory) const {
        const std::lock_guard<std::mutex> guard(lock_);
        const std::vector<Cell> &cells = cells_[static_cast<std::size_t>(owner)];
        for (std::size_t i = 0; i < cells.size(); ++i) {
            if (std::none_of(cells[i].begin(), cells[i].end(), [&](const Candidate &candidate) {
                    return candidate.value == memory[i];
                }))
                return "byte " + std::to_string(i) + " of rank " + std::to_string(owner) +
                       " is not what any last put wrote";
        }
        return "";
    }

    // The number of bytes with a single possible value: a measure of the oracle's precision.
    std::size_t certain() const {
        std::size_t count = 0;
        for (const auto &memory : cells_)
            for (const Cell &cell : memory)
                count += cell.size() == 1 ? 1 : 0;
        return count;
    }

  private:
    struct Candidate {
        std::size_t id;
        std::byte value;
    };
    using Cell = std::vector<Candidate>;

    Cell &cell(const Operation &operation, std::size_t i) {
        return cells_[static_cast<std::size_t>(operation.owner)][operation.offset + i];
    }

    void start_put(std::size_t id, const Operation &put) {
        for (std::size_t i = 0; i < put.buffer.size(); ++i)
            cell(put, i).push_back({id, put.buffer[i]});
        for (Operation *get : open_gets_) {
            if (get->owner != put.owner) continue;
            const std::uint64_t begin = std::max(get->offset, put.offset);
            const std::uint64_t end =
                std::min(get->offset + get->buffer.size(), put.offset + put.buffer.size());
            for (std::uint64_t at = begin; at < end; ++at)
                get->allowed[at - get->offset].set(
                    std::to_integer<std::size_t>(put.buffer[at - put.offset]));
        }
    }

    void supersede(const Operation &put) {
        for (std::size_t i = 0; i < put.buffer.size(); ++i) {
            Cell &candidates = cell(put, i);
            std::erase_if(candidates, [&](const Candidate &candidate) {
                const Operation &other = operations_[candidate.id];
                if (&other == &put) return false;
                if (other.done != 0 && other.done < put.started) return true;
                return other.from == put.from &&
                       (other.fence < put.fence || (in_order_ && other.started < put.started));
            });
        }
    }

    bool in_order_;
    mutable std::mutex lock_;
    std::uint64_t clock_ = 0;
    std::vector<std::uint64_t> fences_;
    std::vector<std::vector<Cell>> cells_;  // [owner][byte]
    std::deque<Operation> operations_;      // never moved
    std::vector<Operation *> open_gets_;
};

}  // namespace sennit::test
