/* How often the thread that serves other nodes wakes up while the rank itself looks at the network
 * all the time, in one short wait after the other. Broken by a thread that looks every millisecond
 * anyway. Some kernels give a group of threads that often sleep and wake up more than its share;
 * then others get the processor seconds late (docs/design/waiting.md).
 * Also checks that the epoll set on which the thread sleeps is closed meanwhile: otherwise each
 * arrival would wake the thread too.
 */
#include <dirent.h>
#include <sennit/sennit.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "must.h"
#include "thread_named.h"

enum { MOST_PER_SECOND = 400 };

static int open_epoll_sets(void) {
    int count = 0;
    DIR *const all = opendir("/proc/self/fd");
    for (struct dirent *each = readdir(all); each != NULL; each = readdir(all)) {
        char target[64] = "";
        if (readlinkat(dirfd(all), each->d_name, target, sizeof target - 1) > 0)
            count += strcmp(target, "anon_inode:[eventpoll]") == 0;
    }
    closedir(all);
    return count;
}

int main(void) {
    must(sennit_init(NULL));
    sennit_gptr gptr;
    must(sennit_alloc(SENNIT_TEAM_WORLD, sizeof(int), 0, 0, &gptr));
    int value = sennit_rank();
    const int thread = thread_named("sennit-progress");
    long before = 0;
    must(sennit_put(sennit_gptr_at(gptr, 1 - value), &value, sizeof value));
    usleep(100 * 1000);
    const int asleep = open_epoll_sets();
    const double begin = sennit_wtime();
    const double half = begin + 0.5, end = begin + 2;
    while (sennit_wtime() < end) {
        if (sennit_wtime() < half) before = sleeps_of(thread);
        must(sennit_put(sennit_gptr_at(gptr, 1 - value), &value, sizeof value));
    }
    const long sleeps = sleeps_of(thread) - before;
    const int polled = open_epoll_sets();
    printf(
        "rank %d: the thread went to sleep %ld times in 1.5 s; %d epoll sets, %d while it sleeps "
        "on one\n",
        value, sleeps, polled, asleep);
    const int is_rare = before >= 0 && sleeps >= 0 && sleeps < 3 * MOST_PER_SECOND / 2;
    must(sennit_finalize());
    return is_rare && polled < asleep ? 0 : 1;
}
