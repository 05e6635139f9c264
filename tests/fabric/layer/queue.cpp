// Completions: reordered, delayed, repeated or lost.
#include <chrono>

#include "layer.hpp"

namespace layer {

std::int64_t now_us() {
    using namespace std::chrono;
    return duration_cast<microseconds>(steady_clock::now().time_since_epoch()).count();
}

namespace {

constexpr std::size_t kBatch = 16;
// The longest time that reordered completions are held without `delay_us`.
constexpr std::int64_t kHeldUs = 100;

const Settings &settings_of(const Queue &queue) {
    static const Settings none;
    for (const auto &[object, endpoint] : it().endpoints)
        if (std::find(endpoint.queues.begin(), endpoint.queues.end(), queue.object) !=
            endpoint.queues.end())
            return domain_of(endpoint).settings;
    return none;
}

// A put with data has arrived: it takes a receive that was posted at the endpoint.
bool take_receive(Queue &queue, Completion &completion) {
    for (auto &[object, endpoint] : it().endpoints) {
        if (std::find(endpoint.queues.begin(), endpoint.queues.end(), queue.object) ==
            endpoint.queues.end())
            continue;
        for (auto &[context, posted] : endpoint.posted) {
            if (posted.kind != Posted::Kind::receive || posted.is_taken) continue;
            posted.is_taken = true;
            completion.entry.op_context = context;
            queue.taken.insert(context);
            return fi_cancel(&object->fid, context) == 0;
        }
    }
    (void)broken(0, "data has come with a put, and no receive was posted");
    return false;
}

void hold(Queue &queue, const Settings &settings, Completion completion) {
    const bool is_transfer = completion.is_error ? (completion.error.flags & FI_RMA) != 0
                                                 : (completion.entry.flags & FI_RMA) != 0;
    if (!completion.is_error && is_transfer && it().one_in(settings.lose)) {
        ++it().lost;
        return;
    }
    const std::int64_t most =
        settings.delay_us != 0 ? settings.delay_us : (settings.reorders ? kHeldUs : 0);
    completion.ready_us =
        most == 0 ? 0
                  : now_us() + static_cast<std::int64_t>(it().draw() % static_cast<unsigned>(most));
    if (settings.delay_us != 0) ++it().delayed;
    // Data that takes no receive is not repeated: a program has no record of it and could not
    // notice.
    const bool is_data = !completion.is_error && is_transfer &&
                         (completion.entry.flags & FI_REMOTE_CQ_DATA) != 0 &&
                         (settings.mode & FI_RX_CQ_DATA) == 0;
    completion.comes_twice = !completion.is_error && !is_data && it().one_in(settings.repeat);
    queue.waiting.push_back(completion);
}

// Reads the provider's completions.
void fetch(Queue &queue) {
    const Settings &settings = settings_of(queue);
    std::byte raw[kBatch * sizeof(fi_cq_tagged_entry)];
    ssize_t count = 0;
    do {
        count = queue.real_calls->read(queue.object, raw, kBatch);
        for (ssize_t i = 0; i < count; ++i) {
            Completion completion{};
            std::memcpy(&completion.entry, raw + static_cast<std::size_t>(i) * queue.entry_bytes,
                        queue.entry_bytes);
            const bool has_data = (completion.entry.flags & FI_REMOTE_CQ_DATA) != 0 &&
                                  (completion.entry.flags & (FI_RMA | FI_REMOTE_WRITE)) != 0;
            if (has_data && settings.data_bits < 64) {
                ++it().garbled;
                completion.entry.data &= (std::uint64_t{1} << settings.data_bits) - 1;
                if (settings.data_bits == 0) continue;
            }
            if (has_data && (settings.mode & FI_RX_CQ_DATA) != 0 &&
                !take_receive(queue, completion))
                continue;
            hold(queue, settings, completion);
        }
        if (count != -FI_EAVAIL) continue;
        Completion completion{};
        completion.is_error = true;
        if (queue.real_calls->readerr(queue.object, &completion.error, 0) <= 0) return;
        if (queue.taken.erase(completion.error.op_context) != 0) continue;
        hold(queue, settings, completion);
    } while (count > 0 || count == -FI_EAVAIL);
}

// The next completion, or the end.
std::vector<Completion>::iterator next(Queue &queue, const Settings &settings) {
    const std::int64_t now = settings.changes_completions() ? now_us() : 0;
    std::vector<std::vector<Completion>::iterator> ready;
    for (auto each = queue.waiting.begin(); each != queue.waiting.end(); ++each)
        if (each->ready_us <= now) ready.push_back(each);
    if (ready.empty()) return queue.waiting.end();
    if (!settings.reorders) return ready.front();
    const auto chosen = ready[it().draw() % ready.size()];
    if (chosen != queue.waiting.begin()) ++it().reordered;
    return chosen;
}

ssize_t read_queue(fid_cq *object, void *buffer, std::size_t most) {
    const Guard guard;
    Queue &queue = it().queues.at(object);
    if (!queue.failed.empty()) return -FI_EAVAIL;
    fetch(queue);
    const Settings &settings = settings_of(queue);
    std::size_t count = 0;
    while (count < most) {
        const auto found = next(queue, settings);
        if (found == queue.waiting.end()) break;
        if (found->is_error && count != 0) break;
        Completion completion = *found;
        queue.waiting.erase(found);
        void *const context =
            completion.is_error ? completion.error.op_context : completion.entry.op_context;
        std::size_t nothing = 0;
        end_posted(object, context, completion.is_error ? &nothing : &completion.entry.len);
        if (completion.is_error) {
            queue.failed.push_back(completion);
            return -FI_EAVAIL;
        }
        // A repeated completion comes in the same read: later its context may belong to another
        // operation, and no program could notice.
        const bool twice = completion.comes_twice && count + 1 < most;
        it().repeated += twice;
        for (int i = 0; i < (twice ? 2 : 1); ++i, ++count)
            std::memcpy(static_cast<std::byte *>(buffer) + count * queue.entry_bytes,
                        &completion.entry, queue.entry_bytes);
    }
    return count != 0 ? static_cast<ssize_t>(count) : -FI_EAGAIN;
}

ssize_t read_error(fid_cq *object, fi_cq_err_entry *out, std::uint64_t) {
    const Guard guard;
    Queue &queue = it().queues.at(object);
    if (queue.failed.empty()) return -FI_EAGAIN;
    *out = queue.failed.front().error;
    queue.failed.pop_front();
    return 1;
}

int close_queue(fid *object) {
    const Guard guard;
    const auto found = it().queues.find(object_of<fid_cq>(object));
    const int code = found->second.real->close(object);
    if (code == 0) it().queues.erase(found);
    return code;
}

std::size_t entry_bytes(fi_cq_format format) {
    switch (format) {
        case FI_CQ_FORMAT_CONTEXT:
            return sizeof(fi_cq_entry);
        case FI_CQ_FORMAT_MSG:
            return sizeof(fi_cq_msg_entry);
        case FI_CQ_FORMAT_DATA:
            return sizeof(fi_cq_data_entry);
        default:
            return sizeof(fi_cq_tagged_entry);
    }
}

}  // namespace

// All completions of an endpoint must be in its queue when the endpoint is closed.
void end_delays(fid_cq *object) {
    Queue &queue = it().queues.at(object);
    fetch(queue);
    for (Completion &each : queue.waiting) {
        each.ready_us = 0;
        each.comes_twice = false;
    }
}

bool holds_something(fid_cq *object) {
    const auto found = it().queues.find(object);
    return found != it().queues.end() &&
           (!found->second.waiting.empty() || !found->second.failed.empty());
}

void wrap_queue(fid_cq *object, const fi_cq_attr &attributes) {
    Queue &queue = it().queues[object];
    queue.object = object;
    queue.waiting.clear();
    queue.failed.clear();
    queue.taken.clear();
    queue.entry_bytes = entry_bytes(attributes.format);
    queue.real = object->fid.ops;
    copy_table(object->fid.ops, &queue.ops);
    queue.ops.close = close_queue;
    object->fid.ops = &queue.ops;
    queue.real_calls = object->ops;
    copy_table(object->ops, &queue.calls);
    queue.calls.read = read_queue;
    queue.calls.readerr = read_error;
    // The provider's read calls its readfrom.
    refuse<"sread">(&queue.calls.sread);
    refuse<"sreadfrom">(&queue.calls.sreadfrom);
    object->ops = &queue.calls;
}

}  // namespace layer
