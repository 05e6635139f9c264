/* A rank of another node computes without calling Sennit, and its memory, its words, its signals
 * and its locks are still served: rank 1 puts, gets, adds, notifies and locks, and all of that ends
 * before rank 0 stops computing. Then no rank does anything, and the serving thread hardly runs.
 * Broken by an operation that waits for the target's next call, and by a thread that polls.
 *
 * Arguments: the seconds of each part; the maximum share of the second part, in per cent, that the
 * thread may run; the only processor that it may run on (SENNIT_PROGRESS names it), or -1.
 */
#include <dirent.h>
#include <sennit/sennit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures = 0;

static void expect(int holds, const char *what) {
    if (holds) return;
    ++failures;
    fprintf(stderr, "rank %d: %s: %s\n", sennit_rank(), what, sennit_last_error()->text);
}

static void compute(double seconds) {
    const double end = sennit_wtime() + seconds;
    while (sennit_wtime() < end)
        ;
}

/* Reads the value after `key` in a file of the thread in /proc, for example its status. */
static int read_of_thread(const char *task, const char *file_name, const char *key, char *text,
                          int bytes) {
    char name[300];
    snprintf(name, sizeof name, "/proc/self/task/%s/%s", task, file_name);
    FILE *const file = fopen(name, "r");
    int found = 0;
    if (file == NULL) return 0;
    while (!found && fgets(text, bytes, file) != NULL)
        found = strncmp(text, key, strlen(key)) == 0;
    fclose(file);
    if (found) memmove(text, text + strlen(key), strlen(text + strlen(key)) + 1);
    return found;
}

/* The seconds that the progress thread has run, below 0 if there is none; and its processor. */
static double thread_seconds(int *processor) {
    DIR *const tasks = opendir("/proc/self/task");
    double seconds = -1;
    for (struct dirent *task = readdir(tasks); task != NULL; task = readdir(tasks)) {
        char text[256];
        if (!read_of_thread(task->d_name, "comm", "", text, sizeof text) ||
            strcmp(text, "sennit-progress\n") != 0)
            continue;
        if (read_of_thread(task->d_name, "schedstat", "", text, sizeof text))
            seconds = strtod(text, NULL) * 1e-9;
        *processor = -1;
        if (read_of_thread(task->d_name, "status", "Cpus_allowed_list:\t", text, sizeof text) &&
            strpbrk(text, ",-") == NULL)
            *processor = atoi(text);
    }
    closedir(tasks);
    return seconds;
}

/* The target's words: for the put, for the add, and the mark that it is done. */
enum { kPut, kAdded, kDone, kWords };

static void use(sennit_gptr words, const sennit_block *block, sennit_lock lock) {
    sennit_peer_block attached;
    uint64_t value = 7;
    uint64_t old = 0;
    uint64_t done = 1;
    expect(sennit_block_attach(block, &attached) == SENNIT_OK, "attach");
    expect(sennit_put(sennit_gptr_at(words, 0), &value, sizeof value) == SENNIT_OK, "put");
    expect(sennit_flush(0, SENNIT_FOREVER) == SENNIT_OK, "flush");
    value = 0;
    expect(sennit_get(&value, sennit_gptr_at(words, 0), sizeof value) == SENNIT_OK && value == 7,
           "get");
    expect(sennit_atomic_fetch_add_u64(sennit_gptr_add(sennit_gptr_at(words, 0), kAdded * 8), 5,
                                       &old) == SENNIT_OK &&
               old == 0,
           "fetch_add");
    expect(sennit_put_notify(attached, 0, &value, sizeof value) == SENNIT_OK, "put_notify");
    expect(sennit_lock_acquire(lock, SENNIT_FOREVER) == SENNIT_OK, "acquire");
    expect(sennit_lock_release(lock) == SENNIT_OK, "release");
    expect(
        sennit_get(&done, sennit_gptr_add(sennit_gptr_at(words, 0), kDone * 8), 8) == SENNIT_OK &&
            done == 0,
        "all of it is over while the target computes");
    expect(sennit_block_detach(attached) == SENNIT_OK, "detach");
}

int main(int count, char **arguments) {
    const double seconds = count > 1 ? strtod(arguments[1], NULL) : 2;
    const double most = count > 2 ? strtod(arguments[2], NULL) : 2;
    sennit_gptr words;
    sennit_region region = SENNIT_REGION_NULL;
    sennit_signal arrived = SENNIT_SIGNAL_NULL;
    sennit_block block;
    sennit_lock lock;
    if (sennit_init(NULL) != SENNIT_OK || sennit_size() != 2) return 1;
    expect(sennit_alloc(SENNIT_TEAM_WORLD, kWords * 8, 0, 0, &words) == SENNIT_OK, "alloc");
    uint64_t *const mine = sennit_ptr(sennit_gptr_at(words, sennit_rank()));
    expect(sennit_signal_create(1, 1, 0, &arrived) == SENNIT_OK, "signal_create");
    region.gptr = sennit_gptr_at(words, sennit_rank());
    region.bytes = 8;
    expect(sennit_block_init(region, 0, 8, SENNIT_SIGNAL_NULL, arrived, &block) == SENNIT_OK,
           "block_init");
    expect(
        sennit_broadcast(SENNIT_TEAM_WORLD, 0, &block, sizeof block, SENNIT_FOREVER) == SENNIT_OK,
        "broadcast");
    expect(sennit_lock_create(SENNIT_TEAM_WORLD, &lock) == SENNIT_OK, "lock_create");
    expect(sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER) == SENNIT_OK, "barrier");

    if (sennit_rank() == 0) {
        compute(seconds);
        __atomic_store_n(&mine[kDone], 1, __ATOMIC_RELEASE);
        expect(mine[kPut] == 7 && mine[kAdded] == 5, "the words have changed meanwhile");
        expect(sennit_signal_wait(arrived, SENNIT_FOREVER) == SENNIT_OK, "signal_wait");
    } else {
        use(words, &block, lock);
    }
    expect(sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER) == SENNIT_OK, "barrier");

    int processor = -1;
    const double before = thread_seconds(&processor);
    compute(seconds);
    const double share = 100 * (thread_seconds(&processor) - before) / seconds;
    printf("rank %d: the thread ran %.2f %%\n", sennit_rank(), share);
    expect(before >= 0, "there is a thread for progress");
    expect(share <= most, "a thread with nothing to do sleeps");
    expect(count < 4 || processor == atoi(arguments[3]), "the thread has the given processor");

    expect(sennit_lock_destroy(lock) == SENNIT_OK, "lock_destroy");
    expect(sennit_signal_destroy(arrived) == SENNIT_OK, "signal_destroy");
    expect(sennit_finalize() == SENNIT_OK, "finalize");
    return failures != 0;
}
