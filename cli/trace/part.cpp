#include "trace/part.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <stdexcept>

namespace sennit::cli {

using runtime::TraceFile;
using runtime::TraceRecord;

TracePart::TracePart(const std::string &name) : name_(name) {
    const int file = open(name.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) throw std::runtime_error(fmt::format("{}: {}", name, std::strerror(errno)));
    struct stat now {};
    void *place = MAP_FAILED;
    if (fstat(file, &now) == 0 && static_cast<std::size_t>(now.st_size) > sizeof(TraceFile)) {
        bytes_ = static_cast<std::size_t>(now.st_size);
        place = mmap(nullptr, bytes_, PROT_READ, MAP_SHARED, file, 0);
    }
    (void)close(file);
    if (place == MAP_FAILED) throw std::runtime_error(name + " is no trace of a rank");
    head_ = static_cast<const TraceFile *>(place);
    if (head_->magic != runtime::kTraceMagic || head_->version != runtime::kTraceVersion) {
        (void)munmap(place, bytes_);
        throw std::runtime_error(name + " is no trace of a rank, or one of another version");
    }
    read_part();
}

TracePart::~TracePart() {
    (void)munmap(const_cast<TraceFile *>(head_), bytes_);
}

void TracePart::read_part() {
    const auto *all = reinterpret_cast<const TraceRecord *>(head_ + 1);
    // SYNC trace-name: pairs with the release in trace_name(); the texts of the names are visible.
    (void)head_->names_used.load(std::memory_order_acquire);
    // SYNC trace-record: pairs with the releases in trace_append() and grow(); records and capacity
    // are visible.
    const std::uint64_t written = head_->written.load(std::memory_order_acquire);
    const std::uint64_t in_file = (bytes_ - sizeof(TraceFile)) / sizeof(TraceRecord);
    // relaxed: the acquire above orders it.
    const std::uint64_t capacity =
        std::min(head_->capacity.load(std::memory_order_relaxed), in_file);
    if (capacity == 0) return;
    // In a full ring the oldest record is dropped: the rank may be overwriting it, or may have died
    // while it overwrote it.
    dropped_ = written >= capacity ? written - capacity + 1 : 0;
    for (std::uint64_t i = dropped_; i < written; ++i)
        records_.push_back(all[i % capacity]);
    // SYNC trace-record: pairs with the release in trace_append(). Records that the rank overwrote
    // during the copy are dropped.
    const std::uint64_t since = head_->written.load(std::memory_order_acquire);
    const std::uint64_t first = since >= capacity ? since - capacity + 1 : 0;
    if (first <= dropped_) return;
    const std::uint64_t torn = std::min<std::uint64_t>(first - dropped_, records_.size());
    records_.erase(records_.begin(), records_.begin() + static_cast<std::ptrdiff_t>(torn));
    dropped_ = first;
}

namespace {

std::string text_of(const runtime::TraceNote &note) {
    std::string text(note.text, strnlen(note.text, sizeof note.text));
    for (char &letter : text)
        if (std::iscntrl(static_cast<unsigned char>(letter)) != 0) letter = ' ';
    return text;
}

}  // namespace

std::vector<TracePart::Open> TracePart::open_operations() const {
    std::vector<Open> found;
    for (const runtime::OpenOperation &one : head_->open) {
        // SYNC trace-open: pairs with the release in Observed::begin(); the fields are visible.
        if (one.in_use.load(std::memory_order_acquire) == 0) continue;
        const std::size_t number = one.name <= runtime::kTraceNames ? one.name : 0;
        // SYNC trace-open: pairs with the release in Observed::show_awaited(); `epoch` and `events`
        // are visible.
        const std::uint32_t signal = one.signal.load(std::memory_order_acquire);
        // SYNC trace-open: pairs with the release in Observed::show_text(); the text is visible.
        const bool has_note = one.has_note.load(std::memory_order_acquire) != 0;
        found.push_back({head_->names[number].text, one.start_ns, one.bytes, one.peer, one.thread,
                         signal, one.epoch, one.events,
                         has_note ? text_of(head_->notes[&one - head_->open]) : std::string()});
    }
    std::sort(found.begin(), found.end(),
              [](const Open &a, const Open &b) { return a.start_ns < b.start_ns; });
    return found;
}

std::string TracePart::outside_note() const {
    return text_of(head_->notes[runtime::kOpenOperations]);
}

TracePart::Ended TracePart::last_ended() const {
    for (auto one = records_.rbegin(); one != records_.rend(); ++one) {
        const std::size_t number = one->name <= runtime::kTraceNames ? one->name : 0;
        const std::string name = head_->names[number].text;
        if (name == "wait" || name == "progress") continue;
        return {name, one->start_ns + one->duration_ns};
    }
    return {};
}

std::vector<TracePart::Sent> TracePart::sent_events() const {
    std::vector<Sent> found;
    for (const runtime::SentEvent &one : head_->events) {
        // SYNC trace-open: pairs with the release in show_sent(); rank and handle are visible.
        if (one.in_use.load(std::memory_order_acquire) == 0) break;
        // relaxed: numbers for display only.
        const auto value = [](const auto &word) { return word.load(std::memory_order_relaxed); };
        found.push_back(
            {one.rank, one.handle, value(one.sent), value(one.refused), value(one.owners)});
    }
    return found;
}

std::vector<std::string> part_names(const std::string &name) {
    namespace fs = std::filesystem;
    const std::string ending = ".part";
    const auto ends_so = [&](const std::string &text) {
        return text.size() > ending.size() &&
               text.compare(text.size() - ending.size(), ending.size(), ending) == 0;
    };
    if (ends_so(name)) return {name};
    std::vector<std::string> found;
    const fs::path path = name;
    const std::string begin = path.filename().string() + ".";
    std::error_code error;
    for (fs::directory_iterator it(path.has_parent_path() ? path.parent_path() : ".", error), end;
         !error && it != end; it.increment(error)) {
        const std::string file = it->path().filename().string();
        if (file.compare(0, begin.size(), begin) == 0 && ends_so(file))
            found.push_back(it->path().string());
    }
    std::sort(found.begin(), found.end());
    return found;
}

}  // namespace sennit::cli
