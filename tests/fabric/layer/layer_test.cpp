// Each rule of the layer refuses the calls that break it. Broken by a layer that checks nothing:
// the tests that run through it would pass. Both endpoints are in this process, on the loopback
// interface.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <sys/mman.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr std::uint64_t kAllModes = FI_CONTEXT | FI_CONTEXT2 | FI_RX_CQ_DATA;
constexpr int kAllMrModes =
    FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_ENDPOINT | FI_MR_RAW;
constexpr std::size_t kBytes = 4096;
constexpr std::uint64_t kKey = 77;
constexpr std::uint64_t kAccess =
    FI_SEND | FI_RECV | FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE;

struct Library {
    decltype(&fi_getinfo) getinfo;
    decltype(&fi_freeinfo) freeinfo;
    decltype(&fi_dupinfo) dupinfo;
    decltype(&fi_fabric) fabric;
};

const Library &library() {
    static const Library found = [] {
        void *const handle = dlopen(LAYER_LIBRARY, RTLD_NOW | RTLD_LOCAL);
        Library all{};
        if (handle == nullptr) return all;
        all.getinfo = reinterpret_cast<decltype(all.getinfo)>(dlsym(handle, "fi_getinfo"));
        all.freeinfo = reinterpret_cast<decltype(all.freeinfo)>(dlsym(handle, "fi_freeinfo"));
        all.dupinfo = reinterpret_cast<decltype(all.dupinfo)>(dlsym(handle, "fi_dupinfo"));
        all.fabric = reinterpret_cast<decltype(all.fabric)>(dlsym(handle, "fi_fabric"));
        return all;
    }();
    return found;
}

struct Side {
    fid_ep *endpoint = nullptr;
    fid_cq *queue = nullptr;
    fi_addr_t other = FI_ADDR_UNSPEC;
};

class Layer : public testing::Test {
  protected:
    // The result of fi_getinfo.
    int find(const std::string &settings, std::uint64_t modes, int mr_modes,
             std::size_t data_bytes = 0) {
        setenv("FABRIC_LAYER", settings.c_str(), 1);
        fi_info *hints = library().dupinfo(nullptr);
        hints->caps = FI_MSG | FI_RMA;
        hints->mode = modes;
        hints->ep_attr->type = FI_EP_RDM;
        hints->domain_attr->mr_mode = mr_modes;
        hints->domain_attr->cq_data_size = data_bytes;
        hints->fabric_attr->prov_name = strdup(provider_);
        hints->addr_format = format_;
        const int code =
            library().getinfo(FI_VERSION(1, 17), "127.0.0.1", nullptr, FI_SOURCE, hints, &info_);
        library().freeinfo(hints);
        return code;
    }

    void SetUp() override {
        ASSERT_NE(library().fabric, nullptr) << dlerror();
        for (const char *candidate : {"net", "tcp"}) {
            provider_ = candidate;
            if (find("", 0, 0) == 0) break;
        }
        if (info_ == nullptr) GTEST_SKIP() << "no provider net or tcp";
        library().freeinfo(info_);
        info_ = nullptr;
    }

    // The fixture closes nothing: objects stay open until the process ends.
    void open(const std::string &settings) {
        ASSERT_EQ(find(settings, kAllModes, kAllMrModes), 0);
        ASSERT_EQ(library().fabric(info_->fabric_attr, &fabric_, nullptr), 0);
        ASSERT_EQ(fi_domain(fabric_, info_, &domain_, nullptr), 0);
        fi_av_attr table{};
        ASSERT_EQ(fi_av_open(domain_, &table, &addresses_, nullptr), 0);
        for (Side *side : {&here_, &there_}) {
            fi_cq_attr queue{};
            queue.format = FI_CQ_FORMAT_DATA;
            ASSERT_EQ(fi_cq_open(domain_, &queue, &side->queue, nullptr), 0);
            ASSERT_EQ(fi_endpoint(domain_, info_, &side->endpoint, nullptr), 0);
            ASSERT_EQ(fi_ep_bind(side->endpoint, &addresses_->fid, 0), 0);
            ASSERT_EQ(fi_ep_bind(side->endpoint, &side->queue->fid, FI_TRANSMIT | FI_RECV), 0);
            ASSERT_EQ(fi_enable(side->endpoint), 0);
        }
        meet(here_, there_);
        meet(there_, here_);
    }

    void meet(Side &side, const Side &other) {
        char name[128];
        std::size_t bytes = sizeof name;
        ASSERT_EQ(fi_getname(&other.endpoint->fid, name, &bytes), 0);
        ASSERT_EQ(fi_av_insert(addresses_, name, 1, &side.other, 0, nullptr), 1);
    }

    fid_mr *expose(void *memory, std::uint64_t access = kAccess, std::uint64_t key = kKey,
                   std::size_t bytes = kBytes) {
        fid_mr *made = nullptr;
        code_ = fi_mr_reg(domain_, memory, bytes, access, 0, key, 0, &made, nullptr);
        return code_ == 0 ? made : nullptr;
    }

    ssize_t put(std::uint64_t address, std::uint64_t key, void *descriptor = nullptr) {
        const iovec piece{from_, 8};
        const fi_rma_iov to{address, 8, key};
        fi_msg_rma message{};
        message.msg_iov = &piece;
        message.desc = &descriptor;
        message.iov_count = 1;
        message.addr = here_.other;
        message.rma_iov = &to;
        message.rma_iov_count = 1;
        message.context = &context_;
        return until_taken([&] {
            return fi_writemsg(here_.endpoint, &message, FI_DELIVERY_COMPLETE | FI_COMPLETION);
        });
    }

    template <class Call>
    ssize_t until_taken(const Call &call) {
        const auto end = steady_clock::now() + milliseconds(5000);
        ssize_t code = -FI_EAGAIN;
        while (code == -FI_EAGAIN && steady_clock::now() < end) {
            code = call();
            if (code == -FI_EAGAIN) (void)poll(milliseconds(1));
        }
        return code;
    }

    struct End {
        void *context;
        std::uint64_t flags;
        int error;
        std::size_t bytes;
    };
    std::vector<End> poll(milliseconds length, std::size_t wanted = SIZE_MAX) {
        std::vector<End> ends;
        const auto end = steady_clock::now() + length;
        while (ends.size() < wanted && steady_clock::now() < end)
            for (const Side &side : {here_, there_}) {
                fi_cq_data_entry entries[4];
                const ssize_t count = fi_cq_read(side.queue, entries, 4);
                for (ssize_t i = 0; i < count; ++i)
                    ends.push_back(End{entries[i].op_context, entries[i].flags, 0, entries[i].len});
                fi_cq_err_entry error{};
                if (count == -FI_EAVAIL && fi_cq_readerr(side.queue, &error, 0) == 1)
                    ends.push_back(End{error.op_context, error.flags, error.err, 0});
            }
        return ends;
    }
    // The error of the only posted operation; -1 if it does not end.
    int end() {
        const std::vector<End> ends = poll(milliseconds(5000), 1);
        return ends.empty() ? -1 : ends[0].error;
    }

    const char *provider_ = nullptr;
    std::uint32_t format_ = FI_SOCKADDR_IN;
    fi_info *info_ = nullptr;
    fid_fabric *fabric_ = nullptr;
    fid_domain *domain_ = nullptr;
    fid_av *addresses_ = nullptr;
    Side here_;
    Side there_;
    int code_ = 0;
    fi_context2 context_{};
    alignas(64) char from_[kBytes] = "sent";
    alignas(64) char to_[kBytes] = "";
};

TEST_F(Layer, a_program_without_a_needed_mode_gets_no_provider) {
    for (const char *mode : {"mr=local", "mr=virt", "mr=prov_key", "mr=endpoint", "mr=allocated",
                             "mr=raw,key_size=16", "context", "context2", "rx_cq_data"}) {
        EXPECT_EQ(find(mode, 0, 0), -FI_ENODATA) << mode;
        EXPECT_EQ(find(mode, kAllModes, kAllMrModes), 0) << mode;
    }
    EXPECT_EQ(find("cq_data=4", 0, 0, 8), -FI_ENODATA);
    EXPECT_EQ(find("cq_data=4", 0, 0, 4), 0);
}

TEST_F(Layer, meaningless_settings_are_refused) {
    for (const char *text : {"local", "mr=none", "again", "again=0", "lose=x", "key_size=9",
                             "mr=raw,key_size=8", "enosys="})
        EXPECT_EQ(find(text, kAllModes, kAllMrModes), -FI_EINVAL) << text;
}

TEST_F(Layer, local_memory_needs_a_descriptor_that_names_it) {
    open("mr=local");
    fid_mr *const to = expose(to_);
    fid_mr *const from = expose(from_, kAccess, kKey + 1);
    fid_mr *const read_only = expose(from_, FI_REMOTE_READ, kKey + 2);
    EXPECT_EQ(put(0, kKey), -FI_EINVAL);
    EXPECT_EQ(put(0, kKey, fi_mr_desc(to)), -FI_EFAULT);
    EXPECT_EQ(put(0, kKey, fi_mr_desc(read_only)), -FI_EACCES);
    EXPECT_EQ(put(0, kKey, &context_), -FI_EINVAL);
    EXPECT_EQ(fi_send(here_.endpoint, from_, 8, nullptr, here_.other, &context_), -FI_EINVAL);
    EXPECT_EQ(fi_recv(here_.endpoint, from_, 8, nullptr, FI_ADDR_UNSPEC, &context_), -FI_EINVAL);
    EXPECT_EQ(fi_read(here_.endpoint, from_, 8, nullptr, here_.other, 0, kKey, &context_),
              -FI_EINVAL);
    ASSERT_EQ(put(0, kKey, fi_mr_desc(from)), 0);
    EXPECT_EQ(fi_close(&from->fid), -FI_EBUSY);
    EXPECT_EQ(end(), 0);
    EXPECT_STREQ(to_, "sent");
    EXPECT_EQ(fi_close(&from->fid), 0);
    EXPECT_EQ(put(0, kKey, from), -FI_EINVAL);
}

TEST_F(Layer, a_registration_belongs_to_the_endpoint_that_enabled_it) {
    open("mr=local+endpoint");
    fid_mr *const to = expose(to_);
    fid_mr *const from = expose(from_, kAccess, kKey + 1);
    EXPECT_EQ(fi_mr_enable(to), -FI_EOPBADSTATE);
    EXPECT_EQ(fi_mr_bind(to, &there_.endpoint->fid, 0), 0);
    EXPECT_EQ(fi_mr_enable(to), 0);
    EXPECT_EQ(fi_mr_bind(from, &there_.endpoint->fid, 0), 0);
    EXPECT_EQ(put(0, kKey, fi_mr_desc(from)), -FI_EINVAL);
    EXPECT_EQ(fi_mr_bind(from, &here_.endpoint->fid, 0), 0);
    EXPECT_EQ(put(0, kKey, fi_mr_desc(from)), -FI_EINVAL) << "not enabled";
    EXPECT_EQ(fi_mr_enable(from), 0);
    ASSERT_EQ(put(0, kKey, fi_mr_desc(from)), 0);
    EXPECT_EQ(end(), 0);
    EXPECT_EQ(fi_close(&there_.endpoint->fid), -FI_EBUSY);
    EXPECT_EQ(fi_close(&domain_->fid), -FI_EBUSY);
    EXPECT_EQ(fi_close(&to->fid), 0);
    EXPECT_EQ(fi_close(&there_.endpoint->fid), 0);
}

TEST_F(Layer, memory_that_is_not_enabled_cannot_be_reached) {
    open("mr=endpoint");
    ASSERT_NE(expose(to_), nullptr);
    ASSERT_EQ(put(0, kKey), 0);
    EXPECT_NE(end(), 0);
    EXPECT_STREQ(to_, "");
}

TEST_F(Layer, only_keys_of_the_provider_work) {
    open("mr=prov_key");
    fid_mr *const to = expose(to_);
    EXPECT_NE(fi_mr_key(to), kKey);
    ASSERT_EQ(put(0, kKey), 0);
    EXPECT_NE(end(), 0);
    ASSERT_EQ(put(0, fi_mr_key(to)), 0);
    EXPECT_EQ(end(), 0);
    EXPECT_STREQ(to_, "sent");
}

TEST_F(Layer, keys_of_the_program_have_at_most_the_set_size) {
    open("key_size=4");
    EXPECT_EQ(expose(to_, kAccess, std::uint64_t{1} << 32), nullptr);
    EXPECT_EQ(code_, -FI_EKEYREJECTED);
    EXPECT_NE(expose(to_, kAccess, UINT32_MAX), nullptr);
}

TEST_F(Layer, memory_is_named_by_its_address_in_mode_virt) {
    open("mr=virt");
    ASSERT_NE(expose(to_), nullptr);
    ASSERT_EQ(put(0, kKey), 0);
    EXPECT_NE(end(), 0);
    ASSERT_EQ(put(reinterpret_cast<std::uintptr_t>(to_), kKey), 0);
    EXPECT_EQ(end(), 0);
    EXPECT_STREQ(to_, "sent");
}

TEST_F(Layer, raw_keys_are_mapped_before_they_are_used) {
    open("mr=raw,key_size=24");
    fid_mr *const to = expose(to_);
    EXPECT_EQ(fi_mr_key(to), FI_KEY_NOTAVAIL);
    std::uint8_t raw[24];
    std::uint64_t base = 1;
    std::size_t bytes = 8;
    EXPECT_EQ(fi_mr_raw_attr(to, &base, raw, &bytes, 0), -FI_ETOOSMALL);
    ASSERT_EQ(fi_mr_raw_attr(to, &base, raw, &bytes, 0), 0);
    std::uint64_t key = 0;
    std::memcpy(&key, raw, sizeof key);
    EXPECT_EQ(put(0, key), -FI_EINVAL);
    ASSERT_EQ(fi_mr_map_raw(domain_, base, raw, bytes, &key, 0), 0);
    ASSERT_EQ(put(0, key), 0);
    EXPECT_EQ(end(), 0);
    EXPECT_STREQ(to_, "sent");
    EXPECT_EQ(fi_mr_unmap_key(domain_, key), 0);
    EXPECT_EQ(put(0, key), -FI_EINVAL);
    raw[0] ^= 1;
    EXPECT_EQ(fi_mr_map_raw(domain_, base, raw, bytes, &key, 0), -FI_EINVAL);
}

TEST_F(Layer, memory_must_exist_when_it_is_registered) {
    open("mr=allocated");
    auto *const pages = static_cast<char *>(
        mmap(nullptr, 3 * kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    ASSERT_EQ(mprotect(pages + kBytes, kBytes, PROT_NONE), 0);
    EXPECT_EQ(expose(pages, kAccess, kKey, 3 * kBytes), nullptr);
    EXPECT_EQ(code_, -FI_EFAULT);
    ASSERT_EQ(munmap(pages + kBytes, kBytes), 0);
    EXPECT_EQ(expose(pages, kAccess, kKey, 3 * kBytes), nullptr);
    EXPECT_NE(expose(pages), nullptr);
}

TEST_F(Layer, contexts_belong_to_the_operation_until_it_ends) {
    open("context2");
    ASSERT_NE(expose(to_), nullptr);
    EXPECT_EQ(fi_recv(here_.endpoint, to_, 8, nullptr, FI_ADDR_UNSPEC, nullptr), -FI_EINVAL);
    EXPECT_EQ(fi_recv(there_.endpoint, to_ + 8, 8, nullptr, FI_ADDR_UNSPEC, &context_.internal[1]),
              0);
    EXPECT_EQ(put(0, kKey), -FI_EINVAL) << "the contexts overlap";
}

TEST_F(Layer, an_overwritten_context_is_reported) {
    open("context");
    ASSERT_NE(expose(to_), nullptr);
    ASSERT_EQ(put(0, kKey), 0);
    context_.internal[0] = this;
    testing::internal::CaptureStderr();
    EXPECT_EQ(end(), 0);
    EXPECT_NE(testing::internal::GetCapturedStderr().find("broken rule"), std::string::npos);
}

TEST_F(Layer, data_has_at_most_the_set_bits_and_calls_may_be_missing) {
    open("cq_data=4,enosys=write+send");
    ASSERT_NE(expose(to_), nullptr);
    const auto put_data = [&](std::uint64_t data) {
        return until_taken([&] {
            return fi_writedata(here_.endpoint, from_, 8, nullptr, data, here_.other, 0, kKey,
                                &context_);
        });
    };
    EXPECT_EQ(put_data(std::uint64_t{1} << 32), -FI_EINVAL);
    EXPECT_EQ(put_data(UINT32_MAX), 0);
    EXPECT_EQ(fi_write(here_.endpoint, from_, 8, nullptr, here_.other, 0, kKey, &context_),
              -FI_ENOSYS);
    EXPECT_EQ(fi_send(here_.endpoint, from_, 8, nullptr, here_.other, &context_), -FI_ENOSYS);
    EXPECT_EQ(fi_inject(here_.endpoint, from_, 8, here_.other), -FI_ENOSYS) << "not in the layer";
}

TEST_F(Layer, data_takes_a_receive_that_was_posted) {
    open("rx_cq_data");
    ASSERT_NE(expose(to_), nullptr);
    const auto data_comes = [&] {
        EXPECT_EQ(until_taken([&] {
                      return fi_writedata(here_.endpoint, from_, 8, nullptr, 1, here_.other, 0,
                                          kKey, nullptr);
                  }),
                  0);
        for (const End &each : poll(milliseconds(300)))
            if ((each.flags & FI_REMOTE_CQ_DATA) != 0) return each.context;
        return static_cast<void *>(nullptr);
    };
    testing::internal::CaptureStderr();
    EXPECT_EQ(data_comes(), nullptr);
    EXPECT_NE(testing::internal::GetCapturedStderr().find("no receive was posted"),
              std::string::npos);
    ASSERT_EQ(fi_recv(there_.endpoint, to_ + 8, 8, nullptr, FI_ADDR_UNSPEC, &context_), 0);
    EXPECT_EQ(data_comes(), &context_);
    EXPECT_EQ(data_comes(), nullptr);
}

// Puts one after the other; counts the completions and how often a put found no room.
TEST_F(Layer, completions_are_lost_and_repeated_and_operations_find_no_room) {
    const auto ends_of = [&](const char *settings) {
        open(settings);
        EXPECT_NE(expose(to_), nullptr);
        std::size_t ends = 0;
        for (int i = 0; i < 40; ++i) {
            EXPECT_EQ(put(0, kKey), 0);
            ends += poll(milliseconds(10), 2).size();
        }
        return ends;
    };
    EXPECT_EQ(ends_of("seed=2"), 40u);
    EXPECT_LT(ends_of("lose=4,seed=2"), 40u);
    EXPECT_GT(ends_of("repeat=4,seed=2"), 40u);
    int agains = 0;
    open("again=2");
    for (int i = 0; i < 40; ++i)
        agains += fi_recv(here_.endpoint, to_, 8, nullptr, FI_ADDR_UNSPEC, nullptr) == -FI_EAGAIN;
    EXPECT_GT(agains, 5);
    EXPECT_LT(agains, 35);
}

TEST_F(Layer, messages_are_changed_or_cut_short) {
    open("garble=1");
    unsigned cut = 0;
    for (int i = 0; i < 20; ++i) {
        ASSERT_EQ(fi_recv(there_.endpoint, to_, 8, nullptr, FI_ADDR_UNSPEC, to_), 0);
        ASSERT_EQ(until_taken([&] {
                      return fi_send(here_.endpoint, from_, 8, nullptr, here_.other, nullptr);
                  }),
                  0);
        for (const End &each : poll(milliseconds(5000), 2)) {
            if (each.context != to_) continue;
            cut += each.bytes < 8;
            EXPECT_TRUE(each.bytes < 8 || std::memcmp(from_, to_, 8) != 0);
        }
    }
    EXPECT_GT(cut, 0u);
    EXPECT_LT(cut, 20u);
}

TEST_F(Layer, cards_have_names_in_place_of_addresses) {
    provider_ = "cxi";
    EXPECT_EQ(find("names=cxi", 0, 0), -FI_ENODATA) << "cards have no IP addresses";
    format_ = FI_FORMAT_UNSPEC;
    EXPECT_EQ(find("", 0, 0), -FI_ENODATA) << "there are no cards";
    open("names=cxi,cards=2");
    EXPECT_STREQ(info_->fabric_attr->prov_name, "cxi");
    EXPECT_STREQ(info_->domain_attr->name, "cxi0");
    ASSERT_NE(info_->next, nullptr);
    EXPECT_STREQ(info_->next->domain_attr->name, "cxi1");
    EXPECT_EQ(info_->next->next, nullptr);
    ASSERT_NE(expose(to_), nullptr);
    ASSERT_EQ(put(0, kKey), 0);
    EXPECT_EQ(end(), 0);
    EXPECT_STREQ(to_, "sent");
    char name[64] = "";
    std::size_t bytes = 23;
    EXPECT_EQ(fi_getname(&here_.endpoint->fid, name, &bytes), -FI_ETOOSMALL);
    EXPECT_EQ(bytes, info_->src_addrlen);
    EXPECT_EQ(fi_getname(&here_.endpoint->fid, name, &bytes), 0);
    fi_addr_t peer = FI_ADDR_UNSPEC;
    EXPECT_EQ(fi_av_insert(addresses_, name, 1, &peer, 0, nullptr), 1);
    name[20] ^= 1;
    EXPECT_EQ(fi_av_insert(addresses_, name, 1, &peer, 0, nullptr), -FI_EINVAL);
    fi_info *all = nullptr;
    ASSERT_EQ(library().getinfo(FI_VERSION(1, 17), nullptr, nullptr, 0, nullptr, &all), 0);
    EXPECT_STREQ(all->fabric_attr->prov_name, "cxi");
    library().freeinfo(all);
}

TEST_F(Layer, cards_may_be_unusable) {
    provider_ = "cxi";
    format_ = FI_FORMAT_UNSPEC;
    ASSERT_EQ(find("names=cxi,barred", 0, 0), 0);
    ASSERT_EQ(library().fabric(info_->fabric_attr, &fabric_, nullptr), 0);
    ASSERT_EQ(fi_domain(fabric_, info_, &domain_, nullptr), 0);
    EXPECT_EQ(fi_endpoint(domain_, info_, &here_.endpoint, nullptr), -FI_EACCES);
}

TEST_F(Layer, endpoints_and_registrations_are_refused) {
    open("mr=local,unopened=1,unclosed=1,unlent=1");
    fid_ep *more[3] = {};
    EXPECT_EQ(fi_endpoint(domain_, info_, &more[0], nullptr), 0);
    EXPECT_EQ(fi_endpoint(domain_, info_, &more[1], nullptr), 0);
    EXPECT_EQ(fi_endpoint(domain_, info_, &more[2], nullptr), -FI_EMFILE);
    EXPECT_EQ(fi_close(&more[0]->fid), -FI_EBUSY);
    EXPECT_NE(expose(to_), nullptr);
    EXPECT_EQ(expose(from_, FI_READ | FI_WRITE, kKey + 1), nullptr);
    EXPECT_EQ(code_, -FI_ENOMEM);
}

TEST_F(Layer, operations_are_swallowed_while_the_file_exists) {
    std::string name = testing::TempDir() + "fabric_layer_XXXXXX";
    const int file = mkstemp(name.data());
    ASSERT_GE(file, 0);
    (void)close(file);
    open("no_transfers=" + name);
    ASSERT_NE(expose(to_), nullptr);
    EXPECT_EQ(put(0, kKey), 0);
    EXPECT_TRUE(poll(milliseconds(100)).empty());
    EXPECT_STREQ(to_, "");
    ASSERT_EQ(unlink(name.c_str()), 0);
    EXPECT_EQ(put(0, kKey), 0);
    EXPECT_EQ(end(), 0);
    EXPECT_STREQ(to_, "sent");
}

TEST_F(Layer, an_endpoint_takes_nothing_until_it_is_connected) {
    const auto start = steady_clock::now();
    open("connect_ms=30");
    ASSERT_NE(expose(to_), nullptr);
    EXPECT_EQ(put(0, kKey), 0);
    EXPECT_GE(steady_clock::now() - start, milliseconds(30));
}

TEST_F(Layer, completions_come_late_and_in_another_order) {
    open("reorder,delay_us=20000");
    ASSERT_NE(expose(to_), nullptr);
    static fi_context2 contexts[16];
    ASSERT_EQ(put(0, kKey), 0);  // connects
    EXPECT_EQ(end(), 0);
    const auto start = steady_clock::now();
    for (fi_context2 &context : contexts)
        ASSERT_EQ(until_taken([&] {
                      return fi_read(here_.endpoint, from_, 8, nullptr, here_.other, 0, kKey,
                                     &context);
                  }),
                  0);
    const std::vector<End> ends = poll(milliseconds(5000), 16);
    ASSERT_EQ(ends.size(), 16u);
    EXPECT_GT(steady_clock::now() - start, milliseconds(8));
    bool in_order = true;
    for (std::size_t i = 0; i < 16; ++i)
        in_order = in_order && ends[i].context == &contexts[i];
    EXPECT_FALSE(in_order);
}

}  // namespace
