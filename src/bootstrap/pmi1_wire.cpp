// SPDX-License-Identifier: BSD-3-Clause
// Each request is one write and a wait for one line. MSG_DONTWAIT and poll() limit each wait. The
// socket's own O_NONBLOCK does not change, because the socket may belong to MPI.
#include "bootstrap/pmi1_wire.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>

#include "base/fail.hpp"
#include "base/words.hpp"
#include "bootstrap/late_notice.hpp"
#include "bootstrap/number.hpp"

namespace sennit::runtime {
namespace {

constexpr std::int64_t kPollMaximum_ns = 3'600'000'000'000;

// The name begins with "sennit", so it differs from the keys of an MPI in the same key space.
void key_name(const Pmi1Exchange &exchange, int owner, std::size_t part, char *text,
              std::size_t bytes) {
    (void)std::snprintf(text, bytes, "sennit-%u-%d-%zu", exchange.generation, owner, part);
}

// An error's text shows at most this many characters of an unexpected answer.
constexpr int kShownCharacters = 80;

}  // namespace

sennit_status Pmi1Wire::break_off(sennit_status status) {
    broken_ = true;
    return status;
}

sennit_status Pmi1Wire::wait_for(short events, Deadline deadline) {
    LateNotice notice;
    for (;;) {
        const std::int64_t left_ns = std::min(notice.next(deadline).left_ns(), kPollMaximum_ns);
        const auto wait_ms = static_cast<int>((left_ns + 999'999) / 1'000'000);
        notice.warn_if_due("pmi1");
        pollfd entry{fd_, events, 0};
        const int ready = poll(&entry, 1, wait_ms);
        if (ready > 0) return SENNIT_OK;  // the next call reports errors of the socket
        if (ready < 0 && errno != EINTR)
            return break_off(fail_os(SENNIT_ERR_OS, errno, "waiting for the PMI-1 launcher"));
        if (deadline.over())
            return break_off(
                fail(SENNIT_ERR_TIMEOUT,
                     "the PMI-1 launcher did not answer in time; not all ranks have arrived, or it "
                     "hangs (request: %.*s)",
                     static_cast<int>(std::strcspn(request_, " \n")), request_));
    }
}

sennit_status Pmi1Wire::send_request(Deadline deadline) {
    std::size_t sent = 0;
    while (sent < request_bytes_) {
        const ssize_t count =
            send(fd_, request_ + sent, request_bytes_ - sent, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (count > 0) {
            sent += static_cast<std::size_t>(count);
            continue;
        }
        if (count < 0 && errno == EINTR) continue;
        if (count < 0 && errno != EAGAIN && errno != EWOULDBLOCK)
            return break_off(fail_os(SENNIT_ERR_BOOTSTRAP, errno,
                                     "the connection to the PMI-1 launcher is closed"));
        const sennit_status status = wait_for(POLLOUT, deadline);
        if (status != SENNIT_OK) return status;
    }
    return SENNIT_OK;
}

sennit_status Pmi1Wire::read_line(Deadline deadline) {
    for (;;) {
        const void *end = std::memchr(received_, '\n', received_bytes_);
        if (end != nullptr) {
            const std::size_t length =
                static_cast<std::size_t>(static_cast<const char *>(end) - received_);
            std::memcpy(line_, received_, length);
            line_[length] = '\0';
            received_bytes_ -= length + 1;
            std::memmove(received_, received_ + length + 1, received_bytes_);
            return SENNIT_OK;
        }
        if (received_bytes_ == kLineBytes)
            return break_off(fail(SENNIT_ERR_BOOTSTRAP,
                                  "the PMI-1 launcher sent a line of more than %zu bytes",
                                  kLineBytes));
        const ssize_t count =
            recv(fd_, received_ + received_bytes_, kLineBytes - received_bytes_, MSG_DONTWAIT);
        if (count > 0) {
            received_bytes_ += static_cast<std::size_t>(count);
            continue;
        }
        if (count == 0)
            return break_off(
                fail(SENNIT_ERR_BOOTSTRAP, "the PMI-1 launcher closed the connection"));
        if (errno == EINTR) continue;
        if (errno != EAGAIN && errno != EWOULDBLOCK)
            return break_off(fail_os(SENNIT_ERR_BOOTSTRAP, errno,
                                     "the connection to the PMI-1 launcher is closed"));
        const sennit_status status = wait_for(POLLIN, deadline);
        if (status != SENNIT_OK) return status;
    }
}

// Sends request_ and reads its answer, which must be the command `expected`.
sennit_status Pmi1Wire::ask(const char *expected, Deadline deadline) {
    if (broken_)
        return fail(SENNIT_ERR_BOOTSTRAP, "the connection to the PMI-1 launcher failed before");
    request_bytes_ = std::strlen(request_);
    sennit_status status = send_request(deadline);
    if (status != SENNIT_OK) return status;
    status = read_line(deadline);
    if (status != SENNIT_OK) return status;
    std::string_view command;
    if (!field("cmd=", &command) || command != expected || received_bytes_ != 0)
        return break_off(fail(SENNIT_ERR_BOOTSTRAP,
                              "the PMI-1 launcher answered \"%.*s\" instead of cmd=%s",
                              kShownCharacters, line_, expected));
    return SENNIT_OK;
}

// Finds the text after the name, which ends in "=", up to the next space.
bool Pmi1Wire::field(std::string_view name, std::string_view *value) const {
    const auto is_another = [&](std::string_view word) { return !has_value(word, name, value); };
    return first_refused(line_, ' ', is_another).data() != nullptr;
}

bool Pmi1Wire::number_field(std::string_view name, long *number) const {
    std::string_view digits;
    char text[32];
    return field(name, &digits) && copy_word(digits, text, sizeof text) &&
           number_of(text, LONG_MIN, LONG_MAX, number);
}

// Checks the launcher's result of a request. After a refusal the wire can still be used.
sennit_status Pmi1Wire::check_result(const char *what) {
    long result = 0;
    if (!number_field("rc=", &result))
        return break_off(fail(SENNIT_ERR_BOOTSTRAP, "the PMI-1 launcher answered \"%.*s\" to %s",
                              kShownCharacters, line_, what));
    if (result == 0) return SENNIT_OK;
    const sennit_status status = fail(SENNIT_ERR_BOOTSTRAP, "the PMI-1 launcher refused %s: %.*s",
                                      what, kShownCharacters, line_);
    fail_provider_code(result);
    return status;
}

sennit_status Pmi1Wire::introduce(const char *pmi_id, Deadline deadline, int *rank, int *size) {
    (void)std::snprintf(request_, sizeof request_, "cmd=initack pmiid=%s\n", pmi_id);
    request_bytes_ = std::strlen(request_);
    sennit_status status = send_request(deadline);
    long found_rank = -1;
    long found_size = -1;
    long debug = -1;
    // "set debug" is the last line of the greeting.
    while (status == SENNIT_OK && debug < 0) {
        status = read_line(deadline);
        if (status != SENNIT_OK) return status;
        std::string_view command;
        if (!field("cmd=", &command) || (command != "set" && command != "initack"))
            return break_off(fail(SENNIT_ERR_BOOTSTRAP, "the PMI-1 launcher greeted with \"%.*s\"",
                                  kShownCharacters, line_));
        (void)number_field("rank=", &found_rank);
        (void)number_field("size=", &found_size);
        (void)number_field("debug=", &debug);
    }
    if (status != SENNIT_OK) return status;
    if (found_size < 1 || found_size > INT32_MAX || found_rank < 0 || found_rank >= found_size)
        return break_off(fail(SENNIT_ERR_BOOTSTRAP,
                              "the PMI-1 launcher says that this is rank %ld of %ld", found_rank,
                              found_size));
    *rank = static_cast<int>(found_rank);
    *size = static_cast<int>(found_size);
    return SENNIT_OK;
}

sennit_status Pmi1Wire::initialise(Deadline deadline) {
    (void)std::snprintf(request_, sizeof request_, "cmd=init pmi_version=1 pmi_subversion=1\n");
    const sennit_status status = ask("response_to_init", deadline);
    return status != SENNIT_OK ? status : check_result("PMI version 1.1");
}

sennit_status Pmi1Wire::learn_limits(Deadline deadline) {
    (void)std::snprintf(request_, sizeof request_, "cmd=get_maxes\n");
    sennit_status status = ask("maxes", deadline);
    if (status != SENNIT_OK) return status;
    long key_bytes = 0;
    long value_bytes = 0;
    // A long name such as sennit-4294967295-2147483647-99999 takes 35 bytes with its terminator.
    if (!number_field("keylen_max=", &key_bytes) || !number_field("vallen_max=", &value_bytes) ||
        key_bytes < 36 || value_bytes < 16)
        return break_off(fail(SENNIT_ERR_BOOTSTRAP,
                              "the limits of the PMI-1 launcher are unusable: %.*s",
                              kShownCharacters, line_));
    // Some launchers count the terminating zero.
    const std::size_t usable = std::min(static_cast<std::size_t>(value_bytes), kValueBytesMax) - 1;
    (void)std::snprintf(request_, sizeof request_, "cmd=get_my_kvsname\n");
    status = ask("my_kvsname", deadline);
    if (status != SENNIT_OK) return status;
    std::string_view name;
    if (!field("kvsname=", &name) || name.empty() ||
        !copy_word(name, key_space_, sizeof key_space_))
        return break_off(fail(SENNIT_ERR_BOOTSTRAP, "the PMI-1 launcher named no key space: %.*s",
                              kShownCharacters, line_));
    part_bytes_ = usable / 2;
    return SENNIT_OK;
}

sennit_status Pmi1Wire::barrier(Deadline deadline) {
    (void)std::snprintf(request_, sizeof request_, "cmd=barrier_in\n");
    return ask("barrier_out", deadline);
}

sennit_status Pmi1Wire::put(const Pmi1Exchange &exchange, const unsigned char *mine,
                            std::size_t bytes, Deadline deadline) {
    char value[kValueBytesMax];
    char key[64];
    for (std::size_t part = 0, done = 0; done < bytes; ++part) {
        const std::size_t count = std::min(part_bytes_, bytes - done);
        to_hex(mine + done, count, value);
        value[2 * count] = '\0';
        key_name(exchange, exchange.rank, part, key, sizeof key);
        (void)std::snprintf(request_, sizeof request_, "cmd=put kvsname=%s key=%s value=%s\n",
                            key_space_, key, value);
        sennit_status status = ask("put_result", deadline);
        if (status == SENNIT_OK) status = check_result("put");
        if (status != SENNIT_OK) return status;
        done += count;
    }
    return SENNIT_OK;
}

sennit_status Pmi1Wire::get(const Pmi1Exchange &exchange, int from, unsigned char *theirs,
                            std::size_t bytes, Deadline deadline) {
    char key[64];
    for (std::size_t part = 0, done = 0; done < bytes; ++part) {
        const std::size_t count = std::min(part_bytes_, bytes - done);
        key_name(exchange, from, part, key, sizeof key);
        (void)std::snprintf(request_, sizeof request_, "cmd=get kvsname=%s key=%s\n", key_space_,
                            key);
        sennit_status status = ask("get_result", deadline);
        if (status == SENNIT_OK) status = check_result(key);
        if (status != SENNIT_OK) return status;
        std::string_view value;
        if (!field("value=", &value) || !from_hex(value, theirs + done, count))
            return fail(SENNIT_ERR_BOOTSTRAP,
                        "rank %d did not give %zu bytes in this exchange: the ranks run different "
                        "versions of Sennit, or make calls in a different order",
                        from, bytes);
        done += count;
    }
    return SENNIT_OK;
}

sennit_status Pmi1Wire::allgather(const Pmi1Exchange &exchange, const void *mine, void *all,
                                  std::size_t bytes, Deadline deadline) {
    const auto *from = static_cast<const unsigned char *>(mine);
    auto *to = static_cast<unsigned char *>(all);
    if (part_bytes_ == 0)
        return fail(SENNIT_ERR_INTERNAL, "an exchange before the limits of the launcher are known");
    sennit_status status = put(exchange, from, bytes, deadline);
    if (status == SENNIT_OK) status = barrier(deadline);
    for (int rank = 0; rank < exchange.size && status == SENNIT_OK; ++rank) {
        unsigned char *place = to + static_cast<std::size_t>(rank) * bytes;
        if (bytes == 0) continue;
        if (rank == exchange.rank)
            std::memmove(place, from, bytes);
        else
            status = get(exchange, rank, place, bytes, deadline);
    }
    return status;
}

sennit_status Pmi1Wire::finalise(Deadline deadline) {
    (void)std::snprintf(request_, sizeof request_, "cmd=finalize\n");
    return ask("finalize_ack", deadline);
}

}  // namespace sennit::runtime
