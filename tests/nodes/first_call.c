/* A rank computes right after sennit_init. Its only call needs no other rank, and the other rank
 * learns by a file, without Sennit, where the memory is. All operations of the other rank end while
 * this one computes. Broken by progress that begins with the rank's first wait.
 *
 * Argument: NAME. There must be no file NAME, NAME.place or NAME.done.
 */
#include <sennit/sennit.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int wait_for(const char *name, int seconds) {
    const time_t end = time(NULL) + seconds;
    while (access(name, F_OK) != 0)
        if (time(NULL) > end) return 0;
    return 1;
}

/* Writes a file that appears complete or not at all. */
static int write_file(const char *name, const char *draft, const void *data, size_t bytes) {
    FILE *const file = fopen(draft, "w");
    if (file == NULL) return 0;
    const int good = fwrite(data, 1, bytes, file) == bytes;
    return fclose(file) == 0 && good && rename(draft, name) == 0;
}

static int compute(const char *draft, const char *place, const char *done) {
    sennit_gptr words;
    if (sennit_alloc_local(64, 0, 0, &words) != SENNIT_OK) return 0;
    const uint64_t *const mine = sennit_ptr(words);
    if (!write_file(place, draft, &words, sizeof words)) return 0;
    if (!wait_for(done, 20)) {
        fprintf(stderr, "a rank that computes is not served before its first wait\n");
        return 0;
    }
    return mine[0] == 7 && mine[1] == 5;
}

static int use(const char *draft, const char *place, const char *done) {
    sennit_gptr words;
    uint64_t value = 7;
    uint64_t old = 1;
    if (!wait_for(place, 20)) return 0;
    FILE *const file = fopen(place, "r");
    if (file == NULL) return 0;
    const int good = fread(&words, sizeof words, 1, file) == 1;
    fclose(file);
    return good && sennit_put(words, &value, 8) == SENNIT_OK &&
           sennit_get(&value, words, 8) == SENNIT_OK && value == 7 &&
           sennit_atomic_fetch_add_u64(sennit_gptr_add(words, 8), 5, &old) == SENNIT_OK &&
           old == 0 && write_file(done, draft, "", 0);
}

int main(int count, char **arguments) {
    char place[300];
    char done[300];
    if (count != 2 || sennit_init(NULL) != SENNIT_OK) return 2;
    snprintf(place, sizeof place, "%s.place", arguments[1]);
    snprintf(done, sizeof done, "%s.done", arguments[1]);
    const int good =
        sennit_rank() == 0 ? compute(arguments[1], place, done) : use(arguments[1], place, done);
    if (!good) fprintf(stderr, "rank %d: %s\n", sennit_rank(), sennit_last_error()->text);
    return sennit_finalize() != SENNIT_OK || !good;
}
