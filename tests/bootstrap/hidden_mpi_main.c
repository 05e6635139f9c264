/* Sennit starts first, MPI is hidden in a library loaded with RTLD_LOCAL, and an exit handler calls
 * MPI_Finalize last of all. Broken by a Sennit that does not see this MPI and leaves the launcher
 * before MPI does.
 */
#include <dlfcn.h>
#include <sennit/sennit.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int (*start)(void);
static int (*stop)(void);

static void stop_at_exit(void) {
    if (stop() != 0) _exit(4);
    printf("orders-done\n");
}

int main(void) {
    void *plugin = dlopen(PLUGIN, RTLD_NOW | RTLD_LOCAL);
    if (plugin == NULL) {
        fprintf(stderr, "orders: step load: %s\n", dlerror());
        return 3;
    }
    start = (int (*)(void))dlsym(plugin, "hidden_mpi_start");
    stop = (int (*)(void))dlsym(plugin, "hidden_mpi_stop");
    if (start == NULL || stop == NULL || dlsym(RTLD_DEFAULT, "MPI_Init") != NULL) {
        fprintf(stderr, "orders: step load: MPI is not hidden\n");
        return 3;
    }
    if (atexit(stop_at_exit) != 0) return 3;
    if (sennit_init(NULL) != SENNIT_OK || start() != 0 || sennit_finalize() != SENNIT_OK) {
        fprintf(stderr, "orders: step start: %s\n", sennit_last_error()->text);
        _exit(3);
    }
    return 0;
}
