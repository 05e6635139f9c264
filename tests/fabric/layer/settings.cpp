// Reads FABRIC_LAYER.
#include <cstdlib>
#include <sstream>

#include "layer.hpp"

namespace layer {
namespace {

std::vector<std::string> split(const std::string &text, char by) {
    std::vector<std::string> words;
    std::istringstream stream(text);
    for (std::string word; std::getline(stream, word, by);)
        words.push_back(word);
    return words;
}

const std::map<std::string, int> kModes = {
    {"local", FI_MR_LOCAL},          {"virt", FI_MR_VIRT_ADDR},      {"prov_key", FI_MR_PROV_KEY},
    {"endpoint", FI_MR_ENDPOINT},    {"allocated", FI_MR_ALLOCATED}, {"raw", FI_MR_RAW},
    {"mmu_notify", FI_MR_MMU_NOTIFY}};

bool read_number(const std::string &text, std::uint64_t most, std::uint64_t *out) {
    char *end = nullptr;
    *out = std::strtoull(text.c_str(), &end, 10);
    return !text.empty() && *end == '\0' && *out <= most;
}

// A word without a value.
bool read_flag(const std::string &name, Settings *out) {
    if (name == "context")
        out->mode |= FI_CONTEXT;
    else if (name == "context2")
        out->mode |= FI_CONTEXT2;
    else if (name == "async_iov")
        out->mode |= FI_ASYNC_IOV;
    else if (name == "rx_cq_data")
        out->mode |= FI_RX_CQ_DATA;
    else if (name == "reorder")
        out->reorders = true;
    else if (name == "barred")
        out->is_barred = true;
    else if (name == "no_data")
        out->data_bits = 0;
    else
        return false;
    return true;
}

bool read_word(const std::string &name, const std::string &value, Settings *out) {
    if (name == "mr") {
        for (const std::string &mode : split(value, '+')) {
            const auto found = kModes.find(mode);
            if (found == kModes.end()) return false;
            out->mr_mode |= found->second;
        }
        return true;
    }
    if (name == "names" || name == "network") {
        (name == "names" ? out->names : out->network) = value;
        return !value.empty();
    }
    if (name == "enosys") {
        for (const std::string &call : split(value, '+'))
            out->missing.insert(call);
        return !value.empty();
    }
    for (const auto &[text, kept] : {std::pair{"no_sends", &out->no_sends},
                                     {"no_transfers", &out->no_transfers},
                                     {"no_closes", &out->no_closes},
                                     {"drop", &out->drop}})
        if (name == text) {
            *kept = value;
            return !value.empty();
        }
    if (value.empty()) return read_flag(name, out);
    std::uint64_t number = 0;
    if (!read_number(value, 1'000'000'000, &number) || number == 0) return false;
    if (name == "key_size")
        out->key_bytes = number;
    else if (name == "cq_data")
        out->data_bytes = number;
    else if (name == "again")
        out->again = static_cast<unsigned>(number);
    else if (name == "connect_ms")
        out->connect_ms = static_cast<std::int64_t>(number);
    else if (name == "delay_us")
        out->delay_us = static_cast<std::int64_t>(number);
    else if (name == "lose")
        out->lose = static_cast<unsigned>(number);
    else if (name == "repeat")
        out->repeat = static_cast<unsigned>(number);
    else if (name == "garble")
        out->garble = static_cast<unsigned>(number);
    else if (name == "cards")
        out->cards = static_cast<unsigned>(number);
    else if (name == "unopened")
        out->unopened = static_cast<unsigned>(number);
    else if (name == "unclosed")
        out->unclosed = static_cast<unsigned>(number);
    else if (name == "unlent")
        out->unlent = static_cast<unsigned>(number);
    else if (name == "hints")
        out->hints = static_cast<unsigned>(number);
    else if (name == "data_bits")
        out->data_bits = static_cast<unsigned>(number);
    else if (name == "seed")
        out->seed = number;
    else
        return false;
    return true;
}

}  // namespace

bool read_settings(const char *text, Settings *out) {
    *out = Settings{};
    for (const std::string &word : split(text == nullptr ? "" : text, ',')) {
        const std::size_t equals = word.find('=');
        const std::string value = equals == std::string::npos ? "" : word.substr(equals + 1);
        if (!read_word(word.substr(0, equals), value, out)) return false;
    }
    const bool is_raw = (out->mr_mode & FI_MR_RAW) != 0;
    return out->key_bytes <= (is_raw ? 64 : 8) && (!is_raw || out->key_bytes >= 16);
}

}  // namespace layer
