// Reads the needed libraries from the dynamic section of a 64-bit ELF file, and the mapped
// libraries of a process from /proc.
#include "launch/foreign_program.hpp"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <initializer_list>
#include <string_view>
#include <utility>
#include <vector>

namespace sennit::cli {
namespace {

template <class T>
std::vector<T> read_array(std::ifstream &file, std::uint64_t offset, std::size_t count) {
    constexpr std::size_t kMost = 65536;
    std::vector<T> found(count < kMost ? count : 0);
    file.seekg(static_cast<std::streamoff>(offset));
    file.read(reinterpret_cast<char *>(found.data()),
              static_cast<std::streamsize>(found.size() * sizeof(T)));
    if (!file) found.clear();
    return found;
}

std::uint64_t offset_of(const std::vector<Elf64_Phdr> &parts, std::uint64_t address) {
    for (const Elf64_Phdr &part : parts) {
        if (part.p_type == PT_LOAD && address >= part.p_vaddr &&
            address - part.p_vaddr < part.p_filesz) {
            return address - part.p_vaddr + part.p_offset;
        }
    }
    return 0;
}

bool begins_with_one_of(std::string_view text, std::initializer_list<const char *> names) {
    return std::ranges::any_of(names, [&](const char *name) { return text.starts_with(name); });
}

void note_library(ForeignProgram &found, std::string library) {
    if (library.starts_with("libsennit")) {
        found.has_sennit = true;
    } else if (begins_with_one_of(library, {"liboshmem.so", "liboshmpi.so", "libopenshmem.so",
                                            "libshmem.so", "libsma.so"})) {
        found.openshmem = std::move(library);
    } else if (found.mpi.empty() &&
               begins_with_one_of(
                   library, {"libmpi.so", "libmpich.so", "libmpi_mpifh.so", "libmpifort.so"})) {
        found.mpi = std::move(library);
    }
}

// Whether the process started with variables of an MPI's launcher. Variables that an MPI sets later
// are not visible here.
bool has_mpi_launcher(pid_t process) {
    std::ifstream file(fmt::format("/proc/{}/environ", process), std::ios::binary);
    for (std::string setting; std::getline(file, setting, '\0');) {
        if (begins_with_one_of(setting, {"PMI_RANK=", "PMIX_RANK=", "OMPI_COMM_WORLD_RANK="}))
            return true;
    }
    return false;
}

}  // namespace

ForeignProgram foreign_libraries_in(pid_t process) {
    ForeignProgram found;
    std::ifstream file(fmt::format("/proc/{}/maps", process));
    for (std::string line; std::getline(file, line);)
        note_library(found, line.substr(line.rfind('/') + 1));
    return found.any() && has_mpi_launcher(process) ? ForeignProgram{} : found;
}

ForeignProgram foreign_libraries_of(const std::string &program) {
    ForeignProgram found;
    std::ifstream file(program, std::ios::binary);
    const std::vector<Elf64_Ehdr> head = read_array<Elf64_Ehdr>(file, 0, 1);
    if (head.empty() || std::memcmp(head[0].e_ident, ELFMAG, SELFMAG) != 0 ||
        head[0].e_ident[EI_CLASS] != ELFCLASS64) {
        return found;
    }
    const auto parts = read_array<Elf64_Phdr>(file, head[0].e_phoff, head[0].e_phnum);
    std::vector<Elf64_Dyn> entries;
    for (const Elf64_Phdr &part : parts) {
        if (part.p_type != PT_DYNAMIC) continue;
        entries = read_array<Elf64_Dyn>(file, part.p_offset, part.p_filesz / sizeof(Elf64_Dyn));
    }
    std::uint64_t names = 0;
    for (const Elf64_Dyn &entry : entries) {
        if (entry.d_tag == DT_STRTAB) names = offset_of(parts, entry.d_un.d_ptr);
    }
    for (const Elf64_Dyn &entry : entries) {
        if (entry.d_tag != DT_NEEDED || names == 0) continue;
        file.seekg(static_cast<std::streamoff>(names + entry.d_un.d_val));
        std::string library;
        std::getline(file, library, '\0');
        note_library(found, std::move(library));
    }
    return found;
}

std::string lone_ranks_text(const std::string &program, int ranks, const ForeignProgram &found,
                            bool is_linked) {
    const bool has_openshmem = !found.openshmem.empty();
    if (has_openshmem && found.has_sennit)
        return fmt::format(
            "{} {} linked to Sennit and to another OpenSHMEM library ({}), and none of its {} "
            "ranks has called Sennit: each was a job of one rank; link it to Sennit only, or to "
            "Sennit first",
            program, is_linked ? "is" : "runs a program", found.openshmem, ranks);
    return fmt::format(
        "{} {} a program of {} ({}), and none of its {} ranks has called sennit_init: each was "
        "a job of one rank; {}",
        program, is_linked ? "is" : "runs", has_openshmem ? "another OpenSHMEM library" : "an MPI",
        has_openshmem ? found.openshmem : found.mpi, ranks,
        has_openshmem ? "compile it with the oshcc of Sennit, or start it with its own oshrun"
                      : "start it with the launcher of its MPI, such as mpirun");
}

}  // namespace sennit::cli
