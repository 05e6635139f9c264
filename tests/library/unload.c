/* Opens the given library, makes a thread report an error through it, and closes it before that
 * thread ends. Broken by unloading code that the thread still has to run at its end. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

static pthread_barrier_t both;
static int (*finalize)(void);

static void *run(void *unused) {
    (void)unused;
    finalize(); /* not initialized: the thread gets an error record */
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
