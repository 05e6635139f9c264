// SPDX-License-Identifier: BSD-3-Clause
// MPI_Initialized and MPI_Finalized may be called at any time and have the same arguments in every
// MPI, so these two symbols are enough for the state; ompi_mpi_init tells Open MPI from others.
// They are searched among the global symbols first, then in each loaded library whose file name
// begins with "libmpi". The reason: Python loads extension modules with RTLD_LOCAL, so an MPI that
// came with such a module has no global symbols.
#include "bootstrap/mpi_presence.hpp"

#include <dlfcn.h>
#include <link.h>

#include <cstring>

namespace sennit::runtime {
namespace {

using FlagFunction = int (*)(int *);

struct MpiSymbols {
    FlagFunction initialized = nullptr;
    FlagFunction finalized = nullptr;
    bool is_open_mpi = false;
};

void look_up(void *where, MpiSymbols *found) {
    found->initialized = reinterpret_cast<FlagFunction>(dlsym(where, "MPI_Initialized"));
    found->finalized = reinterpret_cast<FlagFunction>(dlsym(where, "MPI_Finalized"));
    found->is_open_mpi = dlsym(where, "ompi_mpi_init") != nullptr;
}

bool complete(const MpiSymbols &symbols) {
    return symbols.initialized != nullptr && symbols.finalized != nullptr;
}

int look_into_library(dl_phdr_info *library, std::size_t, void *result) {
    const char *path = library->dlpi_name;
    const char *slash = std::strrchr(path, '/');
    const char *name = slash != nullptr ? slash + 1 : path;
    if (std::strncmp(name, "libmpi", 6) != 0) return 0;
    void *handle = dlopen(path, RTLD_NOLOAD | RTLD_LAZY);
    if (handle == nullptr) return 0;
    auto *found = static_cast<MpiSymbols *>(result);
    look_up(handle, found);
    (void)dlclose(handle);  // undoes only the count of dlopen(); the library stays loaded
    return complete(*found) ? 1 : 0;
}

}  // namespace

MpiPresence mpi_presence() {
    MpiSymbols symbols;
    look_up(RTLD_DEFAULT, &symbols);
    if (!complete(symbols)) (void)dl_iterate_phdr(look_into_library, &symbols);
    if (!complete(symbols)) return {MpiState::kAbsent, false};
    int flag = 0;
    if (symbols.finalized(&flag) == 0 && flag != 0) return {MpiState::kOver, symbols.is_open_mpi};
    if (symbols.initialized(&flag) == 0 && flag != 0)
        return {MpiState::kRunning, symbols.is_open_mpi};
    return {MpiState::kIdle, symbols.is_open_mpi};
}

}  // namespace sennit::runtime
