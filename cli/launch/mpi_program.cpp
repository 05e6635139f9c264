// Reads the list of needed libraries from the dynamic section of an ELF file of 64 bits, and what a
// process has mapped from /proc.
#include "launch/mpi_program.hpp"

#include <elf.h>
#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <string_view>
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

bool is_mpi(std::string_view library) {
    for (const char *name : {"libmpi.so", "libmpich.so", "libmpi_mpifh.so", "libmpifort.so"}) {
        if (library.starts_with(name)) return true;
    }
    return false;
}

// The launcher's variables as the process got them; what an MPI sets for itself is not seen.
bool has_mpi_launcher(pid_t process) {
    std::ifstream file(fmt::format("/proc/{}/environ", process), std::ios::binary);
    for (std::string setting; std::getline(file, setting, '\0');) {
        for (const char *name : {"PMI_RANK=", "PMIX_RANK=", "OMPI_COMM_WORLD_RANK="}) {
            if (setting.starts_with(name)) return true;
        }
    }
    return false;
}

}  // namespace

std::string mpi_library_in(pid_t process) {
    std::ifstream file(fmt::format("/proc/{}/maps", process));
    for (std::string line; std::getline(file, line);) {
        const std::string library = line.substr(line.rfind('/') + 1);
        if (is_mpi(library)) return has_mpi_launcher(process) ? "" : library;
    }
    return "";
}

std::string mpi_library_of(const std::string &program) {
    std::ifstream file(program, std::ios::binary);
    const std::vector<Elf64_Ehdr> head = read_array<Elf64_Ehdr>(file, 0, 1);
    if (head.empty() || std::memcmp(head[0].e_ident, ELFMAG, SELFMAG) != 0 ||
        head[0].e_ident[EI_CLASS] != ELFCLASS64) {
        return "";
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
        if (is_mpi(library)) return library;
    }
    return "";
}

}  // namespace sennit::cli
