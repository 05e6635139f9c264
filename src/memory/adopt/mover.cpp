// SPDX-License-Identifier: BSD-3-Clause
#include "memory/adopt/mover.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>

#include "base/raw.hpp"
#include "memory/adopt/kernel_record.hpp"
#include "memory/adopt/page_states.hpp"
#include "memory/adopt/placement.hpp"
#include "memory/file.hpp"
#include "memory/space.hpp"

namespace sennit::memory::adopt {
namespace {

constexpr int kCollapse = 25;  // MADV_COLLAPSE, Linux 6.1
constexpr std::uint64_t kMostPages = kHugePageBytes / 4096;
// Copies of longer runs into huge pages bypass the caches; a shorter run mostly stays in them.
constexpr std::uint64_t kLongBytes = 8u << 20;

void *pointer(std::uint64_t address) {
    return reinterpret_cast<void *>(address);
}

// Whether a page may have been swapped out.
bool may_swap() {
    struct sysinfo machine {};
    return sysinfo(&machine) != 0 || machine.totalswap != 0;
}

// Finds the parts of a file's range that have data, one by one, by raw system calls.
class DataSpans {
  public:
    DataSpans(int file, std::uint64_t offset, std::uint64_t bytes)
        : file_(file), next_(offset), end_(offset + bytes) {}

    bool next(std::uint64_t *offset, std::uint64_t *bytes) {
        if (next_ >= end_) return false;
        const long data = raw_call(SYS_lseek, file_, next_, SEEK_DATA);
        // ENXIO: no more data. After any other error all of the range counts as data.
        if (data == -ENXIO || data >= static_cast<long>(end_)) return false;
        const std::uint64_t begin = data < 0 ? next_ : static_cast<std::uint64_t>(data);
        const long hole = raw_call(SYS_lseek, file_, begin, SEEK_HOLE);
        const std::uint64_t stop =
            hole < 0 ? end_ : std::min(static_cast<std::uint64_t>(hole), end_);
        *offset = begin;
        *bytes = stop - begin;
        next_ = stop;
        return true;
    }

  private:
    int file_;
    std::uint64_t next_;
    std::uint64_t end_;
};

// The guard that the move needs, or null. A process with one thread and blocked signals needs none:
// no other thread can start meanwhile.
const WriteGuard *needed_guard(const PageMove &move) {
    return thread_count() == 1 ? nullptr : move.guard;
}

// Moves one run into the file.
class MoveIntoFile {
  public:
    explicit MoveIntoFile(const PageMove &move)
        : move_(move), guard_(needed_guard(move)), may_swap_(may_swap()) {}
    ~MoveIntoFile() {
        if (side_ != nullptr) (void)munmap(side_, move_.bytes);
    }

    int go() {
        side_ = space_take(move_.bytes, move_.file_offset);
        if (side_ == nullptr || !space_map(side_, move_.file, move_.file_offset, move_.bytes))
            return errno;
        const std::uint64_t end = move_.address + move_.bytes;
        for (std::uint64_t at = move_.address; at < end;) {
            std::uint64_t bytes = piece_bytes(at);
            if (bytes == kHugePageBytes && at >= read_until_) make_huge_pages(at);
            const bool is_huge = bytes == kHugePageBytes && at < huge_until_;
            // Without a guard no thread waits for the end of a piece, so it may be long.
            if (is_huge && guard_ == nullptr) bytes = huge_until_ - at;
            const int error = move_piece(at, bytes, is_huge);
            if (error != 0) {
                if (undo(at)) file_punch(move_.file, move_.file_offset, move_.bytes);
                return error;
            }
            at += bytes;
        }
        show_change(move_.address, move_.bytes);
        map_pages();
        return 0;
    }

  private:
    std::uint64_t piece_bytes(std::uint64_t at) const {
        const std::uint64_t page = page_bytes();
        const std::uint64_t end = move_.address + move_.bytes;
        if (at == move_.address && move_.first_shared) return page;
        const std::uint64_t inner_end = move_.last_shared ? end - page : end;
        if (at >= inner_end) return page;
        const std::uint64_t next = (at / kHugePageBytes + 1) * kHugePageBytes;
        return std::min(next, inner_end) - at;
    }

    std::byte *side_of(std::uint64_t at) const { return side_ + (at - move_.address); }

    std::uint64_t offset_of(std::uint64_t at) const {
        return move_.file_offset + (at - move_.address);
    }

    // Whether the page may contain data, by the states read before it was protected.
    bool was_used(std::uint64_t i) const {
        return move_.from_file || !known_ || PageStates::is_present(before_[i]) ||
               PageStates::is_swapped(before_[i]);
    }

    // The same by the states read while it is protected: then the kernel reports an unused page as
    // swapped out.
    bool is_used(std::uint64_t i, std::uint64_t at) const {
        if (move_.from_file || !known_ || PageStates::is_present(after_[i])) return true;
        if (!PageStates::is_swapped(after_[i])) return false;
        if (was_used(i)) return true;
        return may_swap_ && !raw_is_zero(pointer(at), page_bytes());
    }

    int move_piece(std::uint64_t at, std::uint64_t bytes, bool is_huge) {
        const int error = is_huge ? take_huge_pages(at, bytes) : make_pages(at, bytes);
        if (error != 0) return error;
        if (guard_ != nullptr && !guard_->protects_unused_pages()) read_each(at, bytes);
        return static_cast<int>(-swap(at, bytes, is_huge));
    }

    // Makes huge pages for the completely used pieces from `at` on. One call of the kernel makes
    // several, because each call drains lists of pages on all processors.
    void make_huge_pages(std::uint64_t at) {
        const std::uint64_t page = page_bytes();
        std::uint64_t end = at;
        read_until_ = at + kHugePageBytes;
        for (; end - at < kMostHugeBytes && piece_bytes(end) == kHugePageBytes;
             end += kHugePageBytes) {
            const std::uint64_t pages = kHugePageBytes / page;
            read_states(end, pages);
            if (used_from(0, pages) != pages) break;
            // One page is enough for a collapse: the kernel adds zeroed memory on the same NUMA
            // node.
            placement_.prefer_node_of(0);
            if (madvise(side_of(end), page, MADV_POPULATE_WRITE) != 0) break;
            read_until_ = end + kHugePageBytes;
        }
        if (end > at && madvise(side_of(at), end - at, kCollapse) == 0) huge_until_ = end;
    }

    int take_huge_pages(std::uint64_t at, std::uint64_t bytes) {
        all_used_ = true;
        const int error = madvise(side_of(at), bytes, MADV_POPULATE_WRITE);
        return error == 0 || errno == EINVAL ? 0 : errno;
    }

    // Finds the used pages of the piece and their NUMA nodes.
    void read_states(std::uint64_t at, std::uint64_t pages) {
        known_ = states_.read(at, pages, before_);
        placement_.find_nodes(pointer(at), pages, page_bytes());
    }

    // The first unused page from `i` on.
    std::uint64_t used_from(std::uint64_t i, std::uint64_t pages) const {
        while (i < pages && was_used(i))
            ++i;
        return i;
    }

    // Allocates the file's pages of a piece before it is protected, but does not touch them: the
    // kernel need not zero a page that the copy fills.
    int make_pages(std::uint64_t at, std::uint64_t bytes) {
        const std::uint64_t page = page_bytes();
        const std::uint64_t pages = bytes / page;
        read_states(at, pages);
        all_used_ = used_from(0, pages) == pages;
        for (std::uint64_t i = 0; i < pages;) {
            std::uint64_t stop = used_from(i, pages);
            if (stop > i) {
                stop = i + placement_.alike(i, stop);
                placement_.prefer_node_of(i);
            }
            // If the kernel has no such call, it allocates each page when the copy writes to it.
            if (stop > i &&
                fallocate(move_.file, FALLOC_FL_KEEP_SIZE,
                          static_cast<off_t>(offset_of(at + i * page)),
                          static_cast<off_t>((stop - i) * page)) != 0 &&
                errno != EOPNOTSUPP && errno != ENOSYS)
                return errno;
            i = std::max(stop, i + 1);
        }
        return 0;
    }

    static void read_each(std::uint64_t at, std::uint64_t bytes) {
        for (std::uint64_t i = 0; i < bytes; i += page_bytes())
            (void)raw_is_zero(pointer(at + i), sizeof(std::uint64_t));
    }

    // Lets the kernel copy protected pages into the file. 0 or -errno.
    SENNIT_UNWATCHED long write_pages(std::uint64_t at, std::uint64_t bytes) {
        for (const std::uint64_t end = at + bytes; at < end;) {
            const long written = raw_call(SYS_pwrite64, move_.file, at, end - at, offset_of(at));
            if (written == 0) return -EIO;
            if (written < 0 && written != -EINTR) return written;
            if (written > 0) at += static_cast<std::uint64_t>(written);
        }
        return 0;
    }

    // Copies the used pages of a protected piece. 0 or -errno.
    SENNIT_UNWATCHED long copy_used(std::uint64_t at, std::uint64_t bytes) {
        const std::uint64_t page = page_bytes();
        const std::uint64_t pages = bytes / page;
        known_ = states_.read(at, pages, after_) && known_;
        for (std::uint64_t i = 0; i < pages;) {
            std::uint64_t stop = i;
            while (stop < pages && is_used(stop, at + stop * page))
                ++stop;
            const long error = write_pages(at + i * page, (stop - i) * page);
            if (error != 0) return error;
            i = stop > i ? stop : i + 1;
        }
        return 0;
    }

    // Copies a protected piece into the file. 0 or -errno.
    SENNIT_UNWATCHED long copy(std::uint64_t at, std::uint64_t bytes, bool is_huge) {
        if (!all_used_) return copy_used(at, bytes);
        if (!is_huge) return write_pages(at, bytes);
        if (move_.bytes >= kLongBytes) {
            raw_copy_long(side_of(at), pointer(at), bytes);
        } else {
            raw_copy(side_of(at), pointer(at), bytes);
        }
        return 0;
    }

    // Replaces the piece by the file's pages. Between protect() and let_go() it makes only raw
    // system calls and copies. 0 or -errno.
    SENNIT_UNWATCHED long swap(std::uint64_t at, std::uint64_t bytes, bool is_huge) {
        if (guard_ != nullptr) {
            const long held = guard_->protect(at, bytes);
            if (held != 0) return held;
        }
        long mapped = copy(at, bytes, is_huge);
        if (mapped == 0)
            mapped = raw_call(SYS_mmap, at, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
                              move_.file, offset_of(at));
        const bool failed = mapped < 0 && mapped > -4096;
        if (guard_ != nullptr) guard_->let_go(at, bytes, !failed);
        return failed ? mapped : 0;
    }

    // Maps the pages, so that the next access has no fault. Called when no page is protected.
    void map_pages() {
        std::uint64_t offset = 0;
        std::uint64_t bytes = 0;
        DataSpans spans(move_.file, move_.file_offset, move_.bytes);
        while (spans.next(&offset, &bytes))
            (void)madvise(pointer(move_.address + (offset - move_.file_offset)), bytes,
                          MADV_POPULATE_READ);
    }

    // Moves the pages up to `end` back. False: some of them are still in the file.
    bool undo(std::uint64_t end) {
        if (end == move_.address) return true;
        PageMove back = move_;
        back.bytes = end - move_.address;
        back.guard = nullptr;
        return move_back(back) == 0;
    }

    const PageMove &move_;
    const WriteGuard *const guard_;  // null: no threads are blocked
    PageStates states_;
    Placement placement_;
    std::byte *side_ = nullptr;
    bool may_swap_;
    std::uint64_t read_until_ = 0;  // how far make_huge_pages() has read
    std::uint64_t huge_until_ = 0;  // end of the pieces with huge pages
    bool known_ = false;
    bool all_used_ = false;  // whether all pages of the piece were used before its protection
    std::uint64_t before_[kMostPages];
    std::uint64_t after_[kMostPages];
};

// Maps the same pages of the file privately, and touches each so that the kernel copies it.
int take_private_view(const PageMove &move, std::uint64_t at, std::uint64_t bytes) {
    if (bytes == 0) return 0;
    if (!shown_mmap(at, bytes, move.file, move.file_offset + (at - move.address))) return errno;
    for (std::uint64_t i = 0; i < bytes; i += page_bytes())
        raw_touch(pointer(at + i));
    return 0;
}

// A part of a run that moves back.
struct Piece {
    std::uint64_t address;
    std::uint64_t bytes;
    const std::byte *view;  // another mapping of its pages, readable while they are protected
    std::byte *fresh;       // its new memory
};

// Copies the file's data in the range of the piece to its new memory.
SENNIT_UNWATCHED void copy_data(const PageMove &move, const Piece &piece) {
    const std::uint64_t first = move.file_offset + (piece.address - move.address);
    std::uint64_t offset = 0;
    std::uint64_t span = 0;
    DataSpans spans(move.file, first, piece.bytes);
    while (spans.next(&offset, &span))
        raw_copy(piece.fresh + (offset - first), piece.view + (offset - first), span);
}

// Copies the piece to its new memory, and moves the new memory to the piece's address. Returns 0,
// or -errno: then the piece is unchanged.
SENNIT_UNWATCHED long swap_back(const PageMove &move, const WriteGuard *guard, const Piece &piece) {
    if (guard != nullptr) {
        const long held = guard->protect(piece.address, piece.bytes);
        if (held != 0) return held;
    }
    copy_data(move, piece);
    const long moved = raw_call(SYS_mremap, piece.fresh, piece.bytes, piece.bytes,
                                MREMAP_MAYMOVE | MREMAP_FIXED, piece.address);
    const bool failed = moved < 0 && moved > -4096;
    if (guard != nullptr) guard->let_go(piece.address, piece.bytes, !failed);
    return failed ? moved : 0;
}

// Allocates the pages of the new memory before the piece is protected: a huge page if all of it is
// used.
void make_fresh_pages(const PageMove &move, const Piece &piece, Placement *placement) {
    const std::uint64_t page = page_bytes();
    const std::uint64_t first = move.file_offset + (piece.address - move.address);
    std::uint64_t offset = 0;
    std::uint64_t span = 0;
    DataSpans spans(move.file, first, piece.bytes);
    while (spans.next(&offset, &span)) {
        if (span == kHugePageBytes) (void)madvise(piece.fresh, span, MADV_HUGEPAGE);
        const std::byte *const view = piece.view + (offset - first);
        std::byte *const fresh = piece.fresh + (offset - first);
        placement->find_nodes(view, span / page, page);
        for (std::uint64_t i = 0; i < span / page;) {
            const std::uint64_t count = placement->alike(i, span / page);
            placement->prefer_node_of(i);
            (void)madvise(fresh + i * page, count * page, MADV_POPULATE_WRITE);
            i += count;
        }
    }
}

// Replaces the pages by new private memory, piece by piece; the first and the last page are pieces
// of their own. `view` is another mapping of the pages. Returns the end of the replaced pages,
// which is the end of the range unless a step failed.
std::uint64_t take_fresh_memory(const PageMove &move, const std::byte *view) {
    const std::uint64_t page = page_bytes();
    const std::uint64_t end = move.address + move.bytes;
    std::byte *const fresh = space_take_memory(move.bytes, move.address);
    if (fresh == nullptr) return move.address;
    Placement placement;
    const WriteGuard *const guard = needed_guard(move);
    for (std::uint64_t at = move.address; at < end;) {
        const std::uint64_t next = (at / kHugePageBytes + 1) * kHugePageBytes;
        const std::uint64_t inner = at == move.address ? at + page : std::min(next, end - page);
        const std::uint64_t bytes = (at == end - page ? end : inner) - at;
        const std::uint64_t from_start = at - move.address;
        const Piece piece{at, bytes, view + from_start, fresh + from_start};
        make_fresh_pages(move, piece, &placement);
        if (swap_back(move, guard, piece) != 0) {
            // Unmaps only the rest: the addresses of the moved part may have other mappings now.
            (void)munmap(piece.fresh, end - at);
            return at;
        }
        at += bytes;
    }
    return end;
}

// Prepares the guard and a view for take_fresh_memory(), and calls it.
std::uint64_t take_back_under_guard(const PageMove &move) {
    if (!move.guard->cover(move.address, move.bytes)) return move.address;
    std::byte *const view = space_take(move.bytes, move.file_offset);
    if (view == nullptr) return move.address;
    std::uint64_t done = move.address;
    if (space_map(view, move.file, move.file_offset, move.bytes))
        done = take_fresh_memory(move, view);
    (void)munmap(view, move.bytes);
    return done;
}

}  // namespace

int move_into_file(const PageMove &move) {
    return MoveIntoFile(move).go();
}

int move_back(const PageMove &move) {
    const std::uint64_t end = move.address + move.bytes;
    std::uint64_t done = move.address;
    if (move.guard != nullptr) {
        show_change(move.address, move.bytes);
        done = take_back_under_guard(move);
    }
    return take_private_view(move, done, end - done);
}

int copy_for_child(const PageMove &move) {
    std::byte *const fresh = space_take_memory(move.bytes, move.address);
    if (fresh == nullptr) return errno;
    const auto *const view = static_cast<const std::byte *>(pointer(move.address));
    const long moved = swap_back(move, nullptr, Piece{move.address, move.bytes, view, fresh});
    if (moved != 0) (void)munmap(fresh, move.bytes);
    return static_cast<int>(-moved);
}

SignalsBlocked::SignalsBlocked() {
    const std::uint64_t all = UINT64_MAX;
    (void)raw_call(SYS_rt_sigprocmask, SIG_BLOCK, &all, &before_, sizeof before_);
}

SignalsBlocked::~SignalsBlocked() {
    (void)raw_call(SYS_rt_sigprocmask, SIG_SETMASK, &before_, 0, sizeof before_);
}

}  // namespace sennit::memory::adopt
