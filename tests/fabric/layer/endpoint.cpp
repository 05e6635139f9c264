// Posted operations: descriptors, contexts, data bits, and calls that find no room or do not
// exist.
#include <unistd.h>

#include "layer.hpp"

namespace layer {
namespace {

constexpr std::uint8_t kMark = 0xc5;  // fills memory that the program lends to the provider

Endpoint &endpoint_of(fid_ep *object) {
    return it().endpoints.at(object);
}

// One operation at the time it is posted.
struct Post {
    Endpoint &endpoint;
    Posted::Kind kind;
    const char *call;
    const iovec *pieces;
    void **descriptors;
    std::size_t count;
    std::uint64_t access;  // the access rights that the memory needs
    void *context;
    std::uint64_t flags = 0;
    std::uint64_t data = 0;
    std::vector<Registration *> uses = {};
    std::vector<void *> real = {};  // the provider's descriptors
};

std::size_t context_bytes(const Settings &settings) {
    if ((settings.mode & FI_CONTEXT2) != 0) return sizeof(fi_context2);
    return (settings.mode & FI_CONTEXT) != 0 ? sizeof(fi_context) : 0;
}

int check_piece(Post &post, std::size_t i) {
    const Settings &settings = domain_of(post.endpoint).settings;
    const iovec &piece = post.pieces[i];
    void *const descriptor = post.descriptors == nullptr ? nullptr : post.descriptors[i];
    post.real.push_back(nullptr);
    if (descriptor == nullptr) {
        const bool needs = (settings.mr_mode & FI_MR_LOCAL) != 0 && piece.iov_len != 0 &&
                           (post.flags & FI_INJECT) == 0;
        return needs ? broken(-FI_EINVAL, "%s without a descriptor of its memory", post.call) : 0;
    }
    Registration *const use = find_descriptor(descriptor);
    if (use == nullptr || use->domain != post.endpoint.domain)
        return broken(-FI_EINVAL, "%s with an unknown descriptor", post.call);
    const auto *const begin = static_cast<const std::byte *>(piece.iov_base);
    if (begin < use->memory || begin + piece.iov_len > use->memory + use->bytes)
        return broken(-FI_EFAULT, "%s with memory outside of its descriptor's memory", post.call);
    if ((use->access & post.access) == 0)
        return broken(-FI_EACCES, "%s with memory that was not registered for it", post.call);
    if ((settings.mr_mode & FI_MR_ENDPOINT) != 0 &&
        (use->bound != post.endpoint.object || use->real == nullptr))
        return broken(-FI_EINVAL, "%s with memory that the endpoint does not have", post.call);
    ++it().descriptors;
    post.uses.push_back(use);
    post.real.back() = fi_mr_desc(use->real);
    return 0;
}

int check_context(const Post &post) {
    const std::size_t bytes = context_bytes(domain_of(post.endpoint).settings);
    if (bytes == 0 || (post.flags & FI_INJECT) != 0) return 0;
    if (post.context == nullptr) return broken(-FI_EINVAL, "%s without a context", post.call);
    const auto *const begin = static_cast<std::byte *>(post.context);
    for (const auto &[object, endpoint] : it().endpoints)
        for (const auto &[context, posted] : endpoint.posted)
            if (begin < static_cast<std::byte *>(context) + bytes &&
                static_cast<std::byte *>(context) < begin + bytes)
                return broken(-FI_EINVAL, "%s with a context that another operation has",
                              post.call);
    return 0;
}

bool is_connected(const Post &post) {
    const std::int64_t limit_us = domain_of(post.endpoint).settings.connect_ms * 1000;
    if (limit_us == 0 || post.kind == Posted::Kind::receive) return true;
    if (post.endpoint.first_try_us == 0) post.endpoint.first_try_us = now_us();
    return now_us() - post.endpoint.first_try_us >= limit_us;
}

// Returns 0 if the operation may go to the provider.
int check(Post &post) {
    const Settings &settings = domain_of(post.endpoint).settings;
    const bool has_data = (post.flags & FI_REMOTE_CQ_DATA) != 0;
    const bool is_injected = (post.flags & FI_INJECT) != 0;
    if (settings.missing.count(post.call) != 0 ||
        (has_data && settings.missing.count("data") != 0) ||
        (is_injected && settings.missing.count("inject") != 0))
        return -FI_ENOSYS;
    for (std::size_t i = 0; i < post.count; ++i) {
        const int code = check_piece(post, i);
        if (code != 0) return code;
    }
    const int code = check_context(post);
    if (code != 0) return code;
    if (has_data && settings.data_bytes < 8 && post.data >> 8 * settings.data_bytes != 0)
        return broken(-FI_EINVAL, "%s with data of more than %zu bytes", post.call,
                      settings.data_bytes);
    if (it().one_in(settings.again) || !is_connected(post)) {
        ++it().agains;
        return -FI_EAGAIN;
    }
    return 0;
}

bool is_there(const std::string &file) {
    return !file.empty() && access(file.c_str(), F_OK) == 0;
}

// True if the layer accepts the operation and drops it.
bool is_swallowed(const Post &post) {
    const Settings &settings = domain_of(post.endpoint).settings;
    const std::string &file =
        post.kind == Posted::Kind::send ? settings.no_sends : settings.no_transfers;
    if (post.kind == Posted::Kind::receive || !is_there(file)) return false;
    ++it().swallowed;
    return true;
}

ssize_t note(Post &post, ssize_t code) {
    if (code != 0 || (post.flags & FI_INJECT) != 0) return code;
    ++it().posts;
    if (post.context != nullptr) {
        const std::size_t bytes = context_bytes(domain_of(post.endpoint).settings);
        std::memset(post.context, kMark, bytes);
    }
    auto *const memory = post.kind == Posted::Kind::receive
                             ? static_cast<std::byte *>(post.pieces[0].iov_base)
                             : nullptr;
    post.endpoint.posted.emplace(post.context, Posted{post.kind, memory, std::move(post.uses)});
    return 0;
}

ssize_t receive(fid_ep *object, void *buffer, std::size_t bytes, void *descriptor, fi_addr_t from,
                void *context) {
    const Guard guard;
    Endpoint &endpoint = endpoint_of(object);
    const iovec piece{buffer, bytes};
    Post post{endpoint, Posted::Kind::receive, "recv", &piece, &descriptor, 1, FI_RECV, context};
    const int code = check(post);
    if (code != 0) return code;
    return note(post,
                endpoint.real_messages->recv(object, buffer, bytes, post.real[0], from, context));
}

ssize_t send(fid_ep *object, const void *buffer, std::size_t bytes, void *descriptor, fi_addr_t to,
             void *context) {
    const Guard guard;
    Endpoint &endpoint = endpoint_of(object);
    const iovec piece{const_cast<void *>(buffer), bytes};
    Post post{endpoint, Posted::Kind::send, "send", &piece, &descriptor, 1, FI_SEND, context};
    const int code = check(post);
    if (code != 0) return code;
    if (is_swallowed(post)) return note(post, 0);
    return note(post,
                endpoint.real_messages->send(object, buffer, bytes, post.real[0], to, context));
}

// Translates a key to the one that the target's provider knows.
bool find_key(const Endpoint &endpoint, std::uint64_t *key) {
    const Domain &domain = domain_of(endpoint);
    if ((domain.settings.mr_mode & FI_MR_RAW) == 0) return true;
    const auto found = domain.mapped_keys.find(*key);
    if (found == domain.mapped_keys.end()) return false;
    *key = found->second;
    return true;
}

template <class Call>
ssize_t transfer(Post post, const fi_msg_rma &message, const Call &call) {
    int code = check(post);
    std::vector<fi_rma_iov> there(message.rma_iov, message.rma_iov + message.rma_iov_count);
    for (fi_rma_iov &piece : there)
        if (code == 0 && !find_key(post.endpoint, &piece.key))
            code = broken(-FI_EINVAL, "%s with a raw key that was not mapped", post.call);
    if (code != 0) return code;
    if (is_swallowed(post)) return note(post, 0);
    fi_msg_rma changed = message;
    changed.desc = post.real.data();
    changed.rma_iov = there.data();
    iovec nothing{};
    const Domain &domain = domain_of(post.endpoint);
    const bool is_put = post.access == FI_WRITE;
    const bool is_hint = is_put && (post.flags & FI_DELIVERY_COMPLETE) == 0;
    if ((is_put && domain.name == domain.settings.drop) ||
        (is_hint && it().one_in(domain.settings.hints))) {
        changed.msg_iov = &nothing;
        there.resize(1);
        there[0].len = 0;
        ++it().swallowed;
    }
    return note(post, call(changed));
}

ssize_t write_message(fid_ep *object, const fi_msg_rma *message, std::uint64_t flags) {
    const Guard guard;
    Endpoint &endpoint = endpoint_of(object);
    const Post post{endpoint,      Posted::Kind::transfer, "writemsg", message->msg_iov,
                    message->desc, message->iov_count,     FI_WRITE,   message->context,
                    flags,         message->data};
    return transfer(post, *message, [&](const fi_msg_rma &changed) {
        return endpoint.real_transfers->writemsg(object, &changed, flags);
    });
}

ssize_t read_message(fid_ep *object, const fi_msg_rma *message, std::uint64_t flags) {
    const Guard guard;
    Endpoint &endpoint = endpoint_of(object);
    const Post post{endpoint,         Posted::Kind::transfer, "readmsg",
                    message->msg_iov, message->desc,          message->iov_count,
                    FI_READ,          message->context,       flags};
    return transfer(post, *message, [&](const fi_msg_rma &changed) {
        return endpoint.real_transfers->readmsg(object, &changed, flags);
    });
}

// The short calls, expressed as the long ones.
struct Short {
    iovec piece;
    void *descriptor;
    fi_rma_iov there;
    fi_msg_rma message{};

    Short(iovec piece_, void *descriptor_, fi_addr_t peer, fi_rma_iov there_, void *context)
        : piece(piece_), descriptor(descriptor_), there(there_) {
        message.msg_iov = &piece;
        message.desc = &descriptor;
        message.iov_count = 1;
        message.addr = peer;
        message.rma_iov = &there;
        message.rma_iov_count = 1;
        message.context = context;
    }
    Short(const Short &) = delete;
};

ssize_t fi_read(fid_ep *object, void *buffer, std::size_t bytes, void *descriptor, fi_addr_t from,
                std::uint64_t address, std::uint64_t key, void *context) {
    const Guard guard;
    Endpoint &endpoint = endpoint_of(object);
    const Short as({buffer, bytes}, descriptor, from, {address, bytes, key}, context);
    const Post post{
        endpoint, Posted::Kind::transfer, "read", &as.piece, as.message.desc, 1, FI_READ, context};
    return transfer(post, as.message, [&](const fi_msg_rma &changed) {
        return endpoint.real_transfers->read(object, buffer, bytes, changed.desc[0], from, address,
                                             changed.rma_iov->key, context);
    });
}

ssize_t fi_write(fid_ep *object, const void *buffer, std::size_t bytes, void *descriptor,
                 fi_addr_t to, std::uint64_t address, std::uint64_t key, void *context) {
    const Guard guard;
    Endpoint &endpoint = endpoint_of(object);
    const Short as({const_cast<void *>(buffer), bytes}, descriptor, to, {address, bytes, key},
                   context);
    const Post post{
        endpoint, Posted::Kind::transfer, "write", &as.piece, as.message.desc, 1, FI_WRITE,
        context};
    return transfer(post, as.message, [&](const fi_msg_rma &changed) {
        return endpoint.real_transfers->write(object, buffer, bytes, changed.desc[0], to, address,
                                              changed.rma_iov->key, context);
    });
}

ssize_t fi_writedata(fid_ep *object, const void *buffer, std::size_t bytes, void *descriptor,
                     std::uint64_t data, fi_addr_t to, std::uint64_t address, std::uint64_t key,
                     void *context) {
    const Guard guard;
    Endpoint &endpoint = endpoint_of(object);
    const Short as({const_cast<void *>(buffer), bytes}, descriptor, to, {address, bytes, key},
                   context);
    const Post post{
        endpoint, Posted::Kind::transfer, "writedata", &as.piece, as.message.desc, 1, FI_WRITE,
        context,  FI_REMOTE_CQ_DATA,      data};
    return transfer(post, as.message, [&](const fi_msg_rma &changed) {
        return endpoint.real_transfers->writedata(object, buffer, bytes, changed.desc[0], data, to,
                                                  address, changed.rma_iov->key, context);
    });
}

int close_endpoint(fid *object) {
    const Guard guard;
    const auto found = it().endpoints.find(object_of<fid_ep>(object));
    for (const auto &[mr, registration] : it().registrations)
        if (registration->bound == found->first)
            return broken(-FI_EBUSY, "an endpoint is closed before its registrations");
    const Settings &settings = domain_of(found->second).settings;
    if (it().refuses(is_there(settings.no_closes) ? 1 : settings.unclosed)) return -FI_EBUSY;
    const int code = found->second.real->close(object);
    for (fid_cq *queue : found->second.queues)
        end_delays(queue);
    if (code == 0)
        it().endpoints.erase(found);
    else
        (void)broken(code, "an endpoint cannot be closed: %d", code);
    return code;
}

int bind_endpoint(fid *object, fid *to, std::uint64_t flags) {
    const Guard guard;
    Endpoint &endpoint = endpoint_of(object_of<fid_ep>(object));
    if (to->fclass == FI_CLASS_CQ) endpoint.queues.push_back(object_of<fid_cq>(to));
    return endpoint.real->bind(object, to, flags);
}

}  // namespace

const Domain &domain_of(const Endpoint &endpoint) {
    return it().domains.at(endpoint.domain);
}

// Changes a message so that no rank of the job can have sent it.
void garble(std::byte *message, std::size_t *bytes) {
    ++it().garbled;
    const auto spoil = [&](std::size_t i) {
        message[i] ^= static_cast<std::byte>(1 + it().draw() % 255);
    };
    if (!it().one_in(2)) return spoil(it().draw() % std::min<std::size_t>(*bytes, 8));
    const std::size_t whole = *bytes;
    *bytes = it().draw() % whole;
    for (std::size_t i = *bytes; i < whole; ++i)
        spoil(i);
}

// The operation is over: memory that the program lent must be unchanged.
void end_posted(fid_cq *queue, void *context, std::size_t *bytes) {
    for (auto &[object, endpoint] : it().endpoints) {
        if (std::find(endpoint.queues.begin(), endpoint.queues.end(), queue) ==
            endpoint.queues.end())
            continue;
        const auto found = endpoint.posted.find(context);
        if (found == endpoint.posted.end()) continue;
        const std::size_t marked = context_bytes(domain_of(endpoint).settings);
        const auto *const marks = static_cast<const std::uint8_t *>(context);
        for (std::size_t i = 0; context != nullptr && i < marked; ++i)
            if (marks[i] != kMark) {
                (void)broken(0, "a context was written while its operation went on");
                break;
            }
        const bool is_message = found->second.kind == Posted::Kind::receive && *bytes != 0;
        if (is_message && it().one_in(domain_of(endpoint).settings.garble))
            garble(found->second.memory, bytes);
        endpoint.posted.erase(found);
        return;
    }
}

void wrap_endpoint(fid_ep *object, fid_domain *domain) {
    Endpoint &endpoint = it().endpoints[object];
    endpoint.object = object;
    endpoint.domain = domain;
    endpoint.real = object->fid.ops;
    copy_table(object->fid.ops, &endpoint.ops);
    endpoint.ops.close = close_endpoint;
    endpoint.ops.bind = bind_endpoint;
    object->fid.ops = &endpoint.ops;
    endpoint.real_messages = object->msg;
    copy_table(object->msg, &endpoint.messages);
    endpoint.messages.recv = receive;
    endpoint.messages.send = send;
    refuse<"recvv">(&endpoint.messages.recvv);
    refuse<"recvmsg">(&endpoint.messages.recvmsg);
    refuse<"sendv">(&endpoint.messages.sendv);
    refuse<"sendmsg">(&endpoint.messages.sendmsg);
    refuse<"inject">(&endpoint.messages.inject);
    refuse<"senddata">(&endpoint.messages.senddata);
    refuse<"injectdata">(&endpoint.messages.injectdata);
    object->msg = &endpoint.messages;
    if (domain_of(endpoint).has_names) hide_name(endpoint);
    endpoint.real_transfers = object->rma;
    copy_table(object->rma, &endpoint.transfers);
    endpoint.transfers.read = fi_read;
    endpoint.transfers.readmsg = read_message;
    endpoint.transfers.write = fi_write;
    endpoint.transfers.writemsg = write_message;
    endpoint.transfers.writedata = fi_writedata;
    refuse<"readv">(&endpoint.transfers.readv);
    refuse<"writev">(&endpoint.transfers.writev);
    refuse<"inject">(&endpoint.transfers.inject);
    refuse<"injectdata">(&endpoint.transfers.injectdata);
    object->rma = &endpoint.transfers;
}

}  // namespace layer
