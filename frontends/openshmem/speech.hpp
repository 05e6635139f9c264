// What Sennit says, for people who know OpenSHMEM: a rank is a PE. The launcher uses it too, where
// oshrun calls it.
#pragma once

#include <cctype>
#include <cstring>
#include <string>

namespace shmem {

// Replaces whole words only, and none in a path of files.
inline std::string in_words_of_openshmem(std::string text) {
    constexpr const char *kWords[][2] = {
        {"rank", "PE"}, {"ranks", "PEs"}, {"sennit_finalize", "shmem_finalize"}};
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
    return text;
}

}  // namespace shmem
