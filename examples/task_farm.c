/* A task farm: rank 0 puts tasks of very different lengths into the queues of the others, each with
 * room for two tasks, and takes results out of its own queue. A fast rank gets more tasks; no rank
 * asks for work or waits for such a request.
 *     sennit run -n 4 task_farm
 */
#include "must.h"

enum { kTasks = 2000, kRoom = 2 };

struct result {
    int64_t task;
    int64_t steps;
    int64_t worker;
};

/* The number of steps of the task until it arrives at 1 (Collatz's problem). */
static int64_t steps_of(int64_t task) {
    int64_t value = task + 1;
    int64_t steps = 0;
    for (; value != 1; ++steps)
        value = value % 2 == 0 ? value / 2 : 3 * value + 1;
    return steps;
}

static void work(sennit_queue tasks, sennit_producer results) {
    for (;;) {
        int64_t task;
        must(sennit_queue_pop(tasks, &task, SENNIT_FOREVER));
        if (task < 0) return;
        const struct result result = {task, steps_of(task), sennit_rank()};
        must(sennit_queue_push(results, &result, SENNIT_FOREVER));
    }
}

/* Gives tasks until the queues are full; returns the first task that was not given. */
static int64_t give(int64_t task, int workers, const sennit_producer to[]) {
    for (int i = 1; i <= workers; ++i) {
        while (task < kTasks) {
            const sennit_status status = sennit_queue_push(to[i], &task, 0);
            if (status == SENNIT_ERR_TIMEOUT) break; /* it has enough for now */
            must(status);
            ++task;
        }
    }
    return task;
}

static void farm(sennit_queue results, int workers, const sennit_producer to[]) {
    static int seen[kTasks];
    int64_t given = 0;
    int64_t longest = 0;
    for (int done = 0; done < kTasks; ++done) {
        given = give(given, workers, to);
        struct result result;
        if (workers > 0) {
            must(sennit_queue_pop(results, &result, SENNIT_FOREVER));
        } else {
            result.task = given++;
            result.steps = steps_of(result.task);
        }
        must_be(result.task >= 0 && result.task < kTasks && seen[result.task]++ == 0,
                "each task is done once");
        must_be(result.steps == steps_of(result.task), "the result is right");
        if (result.steps > longest) longest = result.steps;
    }
    const int64_t end = -1;
    for (int i = 1; i <= workers; ++i)
        must(sennit_queue_push(to[i], &end, SENNIT_FOREVER));
    printf("%d tasks by %d workers, the longest of %lld steps\n", kTasks, workers,
           (long long)longest);
}

int main(void) {
    must(sennit_init(NULL));
    const int rank = sennit_rank();
    const int size = sennit_size();
    /* Rank 0 has a queue of results, the others one of tasks. */
    sennit_queue mine;
    sennit_queue_address address;
    if (rank == 0) {
        must(sennit_queue_create(sizeof(struct result), kRoom, (unsigned)size, &mine, &address));
    } else {
        must(sennit_queue_create(sizeof(int64_t), kRoom, 1, &mine, &address));
    }
    sennit_queue_address *all = malloc((size_t)size * sizeof *all);
    sennit_producer *to = malloc((size_t)size * sizeof *to);
    must_be(all != NULL && to != NULL, "memory for the queues of all ranks");
    must(sennit_allgather(SENNIT_TEAM_WORLD, &address, all, sizeof address, SENNIT_FOREVER));
    if (rank == 0) {
        for (int i = 1; i < size; ++i)
            must(sennit_queue_attach(all[i], &to[i]));
        farm(mine, size - 1, to);
    } else {
        must(sennit_queue_attach(all[0], &to[0]));
        work(mine, to[0]);
    }
    must(sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER));
    must(sennit_queue_destroy(mine));
    free(all);
    free(to);
    must(sennit_finalize());
    return 0;
}
