/* An error ends the program with a line on stderr, like in UNR. Broken by a call that returns to a
 * program which ignores its result. */
#include <sennit/sennit_unr_calls.h>
#include <sys/wait.h>
#include <unistd.h>

static int resets_a_signal_that_has_not_fired(void) {
    unr_sig_h signal = UNR_NO_SIGNAL;
    (void)sennit_init(NULL);
    unr_sig_create(&signal, 1);
    unr_sig_reset(signal);
    return 0;
}

static int puts_twice_before_the_reset(void) {
    static char from[8];
    static char to[8];
    unr_sig_h signal = UNR_NO_SIGNAL;
    unr_mem_h from_mem, to_mem;
    unr_blk_h from_blk, to_blk;
    (void)sennit_init(NULL);
    unr_sig_create(&signal, 1);
    unr_mem_reg(from, sizeof from, &from_mem);
    unr_mem_reg(to, sizeof to, &to_mem);
    unr_blk_reg(from_mem, 0, sizeof from, UNR_NO_SIGNAL, UNR_NO_SIGNAL, &from_blk);
    unr_blk_reg(to_mem, 0, sizeof to, UNR_NO_SIGNAL, signal, &to_blk);
    for (int i = 0; i < 2; ++i)
        unr_blk_rdma_start(from_blk, UNR_NO_SIGNAL, to_blk, UNR_NO_SIGNAL,
                           URU_TRANSFER_TYPE_DMA_PUT);
    return 0;
}

/* The program's exit code; its output goes to `said`. */
static int run(int (*program)(void), char *said, size_t bytes) {
    int pipes[2];
    int status = 0;
    ssize_t got = 0;
    pid_t child = -1;
    if (pipe(pipes) != 0) return -1;
    child = fork();
    if (child == 0) {
        (void)dup2(pipes[1], STDERR_FILENO);
        (void)close(pipes[1]);
        _exit(program());
    }
    (void)close(pipes[1]);
    size_t length = 0;
    while (length < bytes - 1 && (got = read(pipes[0], said + length, bytes - 1 - length)) > 0)
        length += (size_t)got;
    said[length] = '\0';
    (void)close(pipes[0]);
    if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status)) return -1;
    return WEXITSTATUS(status);
}

static int has_texts(void) {
    for (int i = 0; i < (int)URU_STATUS_NUM; ++i)
        if (uru_status_string((uru_status_t)i) == NULL ||
            strcmp(uru_status_string((uru_status_t)i), "unknown result") == 0)
            return 0;
    return strcmp(uru_status_string(URU_SIGNAL_WAITING), "the signal has not fired") == 0 &&
           strcmp(uru_status_string(URU_VERBS_ERROR_EXIT), "end by an error of verbs") == 0 &&
           strcmp(uru_status_string(URU_STATUS_NUM), "unknown result") == 0;
}

int main(void) {
    char said[1000];
    if (!has_texts()) {
        fprintf(stderr, "a result has no text, or another's\n");
        return 1;
    }
    int code = run(resets_a_signal_that_has_not_fired, said, sizeof said);
    if (code != URU_STATUS_ERROR || strstr(said, "unr_sig_reset failed on rank 0") == NULL) {
        fprintf(stderr, "reset: code %d, \"%s\"\n", code, said);
        return 1;
    }
    code = run(puts_twice_before_the_reset, said, sizeof said);
    if (code != URU_EVENT_OVERFLOW || strstr(said, "unr_blk_rdma_start failed") == NULL) {
        fprintf(stderr, "put: code %d, \"%s\"\n", code, said);
        return 1;
    }
    return 0;
}
