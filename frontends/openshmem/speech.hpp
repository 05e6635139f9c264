// Translates Sennit's messages into OpenSHMEM's terms, such as PE for rank. The launcher uses this
// header too, for oshrun.
#pragma once

#include <algorithm>
#include <cctype>
#include <cstring>
#include <string>

namespace shmem {

// Replaces whole words only, and none in file names. A call of Sennit is replaced by the OpenSHMEM
// call that makes it. So sennit_alloc becomes shmem_init, since shmem_malloc does not call it.
inline std::string in_words_of_openshmem(std::string text) {
    constexpr const char *kWords[][2] = {
        {"rank", "PE"},
        {"ranks", "PEs"},
        {"sennit_init", "shmem_init"},
        {"sennit_finalize", "shmem_finalize"},
        {"allocate it with sennit_alloc", "allocate it with shmem_malloc"},
        {"sennit_alloc", "shmem_init"},
        {"sennit_free", "shmem_finalize"},
        {"sennit_register", "shmem_init"},
        {"sennit_region_attach", "shmem_init"},
        {"sennit_deregister", "shmem_finalize"},
        {"sennit_barrier", "a barrier"},
        {"sennit_broadcast", "shmem_broadcast"},
        {"sennit_alltoall", "shmem_alltoall"},
        {"sennit_allgather", "shmem_collect or shmem_fcollect"},
        {"sennit_allgatherv", "shmem_collect"},
        {"sennit_allreduce", "a reduction"},
        {"sennit_scan", "shmem_sum_inscan"},
        {"sennit_scan_exclusive", "shmem_sum_exscan"},
        {"sennit_team_destroy", "shmem_team_destroy"}};
    const auto joins = [&](std::size_t place) {
        const unsigned char letter = place < text.size() ? text[place] : ' ';
        return std::isalnum(letter) != 0 ||
               (letter != ' ' && std::strchr("_/-", letter) != nullptr);
    };
    for (const auto &[word, ours] : kWords) {
        const std::size_t bytes = std::strlen(word);
        for (std::size_t at = 0; (at = text.find(word, at)) != std::string::npos; ++at) {
            if ((at == 0 || !joins(at - 1)) && !joins(at + bytes)) text.replace(at, bytes, ours);
        }
    }
    // Removes the numbers of teams, which only Sennit has.
    constexpr const char *kTeam = "team ";
    for (std::size_t at = 0; (at = text.find(kTeam, at)) != std::string::npos; ++at) {
        const std::size_t number = at + std::strlen(kTeam);
        const std::size_t end = std::min(text.find_first_not_of("0123456789", number), text.size());
        if (end > number) text.replace(at, end - at, "the team");
    }
    return text;
}

}  // namespace shmem
