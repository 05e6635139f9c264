/* Opens the library that is named, has a thread report an error by it, and closes it before that
 * thread ends. Broken by code that goes away while a thread still has it to run at its end. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

static pthread_barrier_t both;
static int (*finalize)(void);

static void *run(void *unused) {
    (void)unused;
    finalize(); /* not initialised: the thread gets a record of the error */
    pthread_barrier_wait(&both);
    pthread_barrier_wait(&both);
    return NULL;
}

int main(int count, char **words) {
    pthread_t thread;
    void *library = count == 2 ? dlopen(words[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    if (library == NULL || (*(void **)&finalize = dlsym(library, "sennit_finalize")) == NULL)
        return 2;
    if (pthread_barrier_init(&both, NULL, 2) != 0 || pthread_create(&thread, NULL, run, NULL) != 0)
        return 2;
    pthread_barrier_wait(&both);
    (void)dlclose(library);
    pthread_barrier_wait(&both);
    (void)pthread_join(thread, NULL);
    puts("the thread has ended");
    return 0;
}
