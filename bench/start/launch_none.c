/* A process that is no rank: the baseline for time and memory. With --provider it lets libfabric
 * find its interfaces, as each rank of a job on several nodes does once. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "launch.h"

/* The declaration in rdma/fabric.h, without its structs. */
typedef int get_info(uint32_t version, const char *node, const char *service, uint64_t flags,
                     const void *hints, void **info);

static int ask_provider(void) {
    void *library = dlopen("libfabric.so.1", RTLD_NOW | RTLD_LOCAL);
    get_info *ask = NULL;
    void *found = NULL;
    if (library == NULL) {
        fprintf(stderr, "sennit-bench-start: %s\n", dlerror());
        return 1;
    }
    *(void **)&ask = dlsym(library, "fi_getinfo");
    return ask == NULL || ask(1u << 16 | 17u, NULL, NULL, 0, NULL, &found) != 0;
}

int launch_begin(int *argc, char ***argv) {
    return *argc > 1 && strcmp((*argv)[1], "--provider") == 0 ? ask_provider() : 0;
}

int launch_meet(void) {
    return 0;
}

int launch_end(void) {
    return 0;
}
