/* Handles, teams of teams, splits with a shorter last row, and contexts at the end of their team.
 */
#include "check.h"

enum { kPes = 16, kOptions = 4 };
static int me, pes;

/* Handles are pointers of two types: they can initialize statics, be copied and compared, and each
 * object has a different one. headers_cxx_test.cpp tests what C cannot. */
static shmem_team_t first_team = SHMEM_TEAM_WORLD, no_team = SHMEM_TEAM_INVALID;
static shmem_ctx_t first_ctx = SHMEM_CTX_DEFAULT;
static _Thread_local shmem_ctx_t no_ctx = SHMEM_CTX_INVALID;
_Static_assert(sizeof(shmem_team_t) == sizeof(void *) && sizeof(shmem_ctx_t) == sizeof(void *),
               "handles are pointers");
_Static_assert(_Generic(SHMEM_TEAM_WORLD, shmem_ctx_t : 0, shmem_team_t : 1), "not one type");
_Static_assert(_Generic(SHMEM_CTX_DEFAULT, shmem_team_t : 0, shmem_ctx_t : 1), "not one type");

static void handles(void) {
    const void *const pointer = first_ctx; /* no cast */
    CHECK(pointer == SHMEM_CTX_DEFAULT && first_team == SHMEM_TEAM_WORLD);
    CHECK(!no_team && !no_ctx && first_team && first_ctx); /* the invalid handles are null */
    CHECK(SHMEM_TEAM_WORLD != SHMEM_TEAM_SHARED && SHMEM_TEAM_SHARED != SHMEM_TEAM_INVALID);
    shmem_team_t same[2], of;
    shmem_ctx_t ctxs[3];
    for (int i = 0; i < 2; ++i)
        CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, pes, NULL, 0, &same[i]) == 0);
    CHECK(same[0] != same[1] && same[0] != SHMEM_TEAM_WORLD && same[1] != SHMEM_TEAM_WORLD);
    CHECK(same[0] != SHMEM_TEAM_SHARED && same[0] != SHMEM_TEAM_INVALID);
    for (int i = 0; i < 3; ++i) {
        CHECK(shmem_team_create_ctx(same[i / 2], 0, &ctxs[i]) == 0);
        CHECK(ctxs[i] != SHMEM_CTX_INVALID && ctxs[i] != SHMEM_CTX_DEFAULT);
        const shmem_ctx_t copy = ctxs[i];
        CHECK(copy == ctxs[i] && shmem_ctx_get_team(copy, &of) == 0 && of == same[i / 2]);
    }
    CHECK(ctxs[0] != ctxs[1] && ctxs[1] != ctxs[2] && ctxs[0] != ctxs[2]);
    for (int i = 0; i < 3; ++i)
        shmem_ctx_destroy(ctxs[i]);
    for (int i = 0; i < 2; ++i)
        shmem_team_destroy(same[i]);
    CHECK(shmem_ctx_create(0, &ctxs[0]) == 0 && shmem_ctx_get_team(ctxs[0], &of) == 0);
    CHECK(of == SHMEM_TEAM_WORLD);
    shmem_ctx_destroy(ctxs[0]);
}

/* A call that makes no team reports that to all PEs, and sets the handle to invalid. */
static void no_teams(void) {
    const int wrong[][3] = {{0, 1, pes + 1}, {-1, 1, 1},      {pes, 1, 1},
                            {0, -1, 2},      {0, pes, 2},     {0, 1, 0},
                            {0, 1, -1},      {pes - 1, 1, 2}, {1, 1 << 30, 3}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i) {
        shmem_team_t made = SHMEM_TEAM_WORLD;
        CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, wrong[i][0], wrong[i][1], wrong[i][2],
                                       NULL, 0, &made) != 0);
        CHECK(made == SHMEM_TEAM_INVALID);
    }
    shmem_team_t row = SHMEM_TEAM_WORLD, column = SHMEM_TEAM_WORLD;
    CHECK(shmem_team_split_2d(SHMEM_TEAM_INVALID, 1, NULL, 0, &row, NULL, 0, &column) != 0);
    CHECK(row == SHMEM_TEAM_INVALID && column == SHMEM_TEAM_INVALID);
    /* Calls with the invalid team. */
    shmem_team_config_t config = {17};
    CHECK(shmem_team_my_pe(no_team) == -1 && shmem_team_n_pes(no_team) == -1);
    CHECK(shmem_team_get_config(no_team, SHMEM_TEAM_NUM_CONTEXTS, &config) != 0);
    CHECK(config.num_contexts == 17 && shmem_team_get_config(SHMEM_TEAM_WORLD, 0, NULL) == 0);
    CHECK(shmem_team_translate_pe(no_team, 0, SHMEM_TEAM_WORLD) == -1);
    CHECK(shmem_team_translate_pe(SHMEM_TEAM_WORLD, 0, no_team) == -1);
    CHECK(shmem_team_translate_pe(SHMEM_TEAM_WORLD, -1, SHMEM_TEAM_WORLD) == -1);
    CHECK(shmem_team_translate_pe(SHMEM_TEAM_WORLD, pes, SHMEM_TEAM_WORLD) == -1);
    shmem_team_destroy(no_team);
    /* A team of one has any stride. */
    const int strides[] = {0, 1, -1, 1 << 30, -(1 << 30)};
    for (size_t i = 0; i < sizeof strides / sizeof *strides; ++i) {
        shmem_team_t one;
        CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, pes - 1, strides[i], 1, NULL, 0, &one) ==
              0);
        CHECK((one != SHMEM_TEAM_INVALID) == (me == pes - 1));
        shmem_team_destroy(one);
    }
}

/* Checks that a team works: the sum of its members' numbers, an element of each in an array at
 * all, and a put by a context. `members` are their numbers in the world. */
static void works(shmem_team_t team, const int *members, int size) {
    static long number, sum, all[kPes], from;
    const int mine = shmem_team_my_pe(team), next = (mine + 1) % size;
    shmem_ctx_t ctx;
    long wanted = 0;
    CHECK(shmem_team_n_pes(team) == size && mine >= 0 && mine < size && members[mine] == me);
    for (int i = 0; i < size; ++i) {
        wanted += members[i] + 1;
        CHECK(shmem_team_translate_pe(team, i, SHMEM_TEAM_WORLD) == members[i]);
        CHECK(shmem_team_translate_pe(SHMEM_TEAM_WORLD, members[i], team) == i);
    }
    shmem_team_sync(team);
    number = me + 1;
    from = -1;
    CHECK(shmem_long_sum_reduce(team, &sum, &number, 1) == 0 && sum == wanted);
    CHECK(shmem_long_fcollect(team, all, &number, 1) == 0);
    for (int i = 0; i < size; ++i)
        CHECK(all[i] == members[i] + 1);
    CHECK(shmem_team_create_ctx(team, SHMEM_CTX_SERIALIZED, &ctx) == 0);
    shmem_team_sync(team);
    shmem_ctx_long_p(ctx, &from, me, next);
    shmem_ctx_quiet(ctx);
    shmem_team_sync(team);
    CHECK(from == members[(mine + size - 1) % size]);
    shmem_ctx_destroy(ctx);
    shmem_team_sync(team);
}

/* All PEs in reverse order; of these, every second one from the second on; of those, all but the
 * first, in reverse order. The teams are destroyed in every order: a child works without its
 * parent, and the others go on. */
struct part {
    shmem_team_t team;
    int members[kPes], size;
};
static void split(const struct part *parent, int start, int stride, int size, struct part *part) {
    part->team = SHMEM_TEAM_INVALID;
    part->size = size;
    for (int i = 0; i < size; ++i)
        part->members[i] = parent->members[start + i * stride];
    if (parent->team == SHMEM_TEAM_INVALID || size == 0) return;
    CHECK(shmem_team_split_strided(parent->team, start, stride, size, NULL, 0, &part->team) == 0);
    int is_member = 0;
    for (int i = 0; i < size; ++i)
        is_member |= part->members[i] == me;
    CHECK((part->team != SHMEM_TEAM_INVALID) == is_member);
}

static void teams_of_teams(void) {
    static const int orders[][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                    {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    struct part world = {SHMEM_TEAM_WORLD, {0}, pes};
    for (int i = 0; i < pes; ++i)
        world.members[i] = i;
    for (int k = 0; k < 6; ++k) {
        struct part parts[3];
        split(&world, pes - 1, -1, pes, &parts[0]);
        split(&parts[0], pes > 1, 2, pes > 1 ? pes / 2 : 1, &parts[1]);
        split(&parts[1], parts[1].size - 1, -1, parts[1].size - (parts[1].size > 1), &parts[2]);
        for (int gone = 0; gone <= 3; ++gone) {
            if (gone > 0) {
                struct part *const end = &parts[orders[k][gone - 1]];
                shmem_team_destroy(end->team);
                end->team = SHMEM_TEAM_INVALID;
            }
            for (int i = 0; i < 3; ++i) {
                if (parts[i].team != SHMEM_TEAM_INVALID)
                    works(parts[i].team, parts[i].members, parts[i].size);
            }
        }
        shmem_barrier_all();
    }
}

/* Splits of a team into rows and columns, where the last may be shorter, for each width, also more
 * than there are PEs; the columns are split once more. */
static int members_from(const int *of, int begin, int step, int end, int *members) {
    int count = 0;
    for (int i = begin; i < end; i += step)
        members[count++] = of[i];
    return count;
}

static void split_2d(shmem_team_t team, const int *of, int size, int width, struct part *row,
                     struct part *column) {
    shmem_team_config_t for_row = {1 + shmem_team_my_pe(team) / width}, for_column = {width}, got;
    CHECK(shmem_team_split_2d(team, width, &for_row, SHMEM_TEAM_NUM_CONTEXTS, &row->team,
                              &for_column, 0, &column->team) == 0);
    const int range = width < size ? width : size, mine = shmem_team_my_pe(team);
    const int x = mine % range, begin = mine / range * range;
    const int end = begin + range < size ? begin + range : size;
    row->size = members_from(of, begin, 1, end, row->members);
    column->size = members_from(of, x, range, size, column->members);
    CHECK(shmem_team_my_pe(row->team) == x && shmem_team_my_pe(column->team) == mine / range);
    CHECK(shmem_team_get_config(row->team, SHMEM_TEAM_NUM_CONTEXTS, &got) == 0);
    CHECK(got.num_contexts == for_row.num_contexts);
}

static void ragged_splits(void) {
    shmem_team_t backwards;
    int all[kPes];
    CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, pes - 1, -1, pes, NULL, 0, &backwards) == 0);
    for (int i = 0; i < pes; ++i)
        all[i] = pes - 1 - i;
    for (int width = 1; width <= pes + 1; ++width) {
        struct part row, column, deep_row, deep_column;
        split_2d(backwards, all, pes, width, &row, &column);
        works(row.team, row.members, row.size);
        works(column.team, column.members, column.size);
        /* The third dimension: columns have different lengths, and each is split separately. */
        split_2d(column.team, column.members, column.size, 2, &deep_row, &deep_column);
        shmem_team_destroy(column.team);
        works(deep_row.team, deep_row.members, deep_row.size);
        works(deep_column.team, deep_column.members, deep_column.size);
        works(row.team, row.members, row.size);
        shmem_team_destroy(deep_column.team);
        shmem_team_destroy(row.team);
        shmem_team_destroy(deep_row.team);
    }
    shmem_team_destroy(backwards);
}

/* The end of a team ends its contexts, with any options, and no others: not those of its child or
 * its parent, and not the default one. */
static void contexts_end_with_their_team(void) {
    static const long options[kOptions] = {0, SHMEM_CTX_SERIALIZED, SHMEM_CTX_NOSTORE,
                                           SHMEM_CTX_SERIALIZED | SHMEM_CTX_NOSTORE};
    static long words[3];
    shmem_team_t team, child, of;
    shmem_ctx_t its[kOptions], of_child, of_world, later;
    const int next = (me + 1) % pes, before = (me + pes - 1) % pes;
    CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, pes - 1, -1, pes, NULL, 0, &team) == 0);
    CHECK(shmem_team_split_strided(team, pes - 1, -1, pes, NULL, 0, &child) == 0);
    CHECK(shmem_ctx_create(0, &of_world) == 0);
    CHECK(shmem_team_create_ctx(child, 0, &of_child) == 0);
    for (int i = 0; i < kOptions; ++i)
        CHECK(shmem_team_create_ctx(team, options[i], &its[i]) == 0);
    long from = me;
    shmem_ctx_long_put_nbi(its[0], &words[0], &from, 1, pes - 1 - next);
    shmem_team_destroy(team); /* transfers under way have arrived */
    shmem_sync_all();
    CHECK(words[0] == before);
    for (int i = 0; i < kOptions; ++i)
        CHECK(shmem_ctx_get_team(its[i], &of) != 0 && of == SHMEM_TEAM_INVALID);
    CHECK(shmem_ctx_get_team(of_child, &of) == 0 && of == child);
    CHECK(shmem_ctx_get_team(of_world, &of) == 0 && of == SHMEM_TEAM_WORLD);
    shmem_ctx_long_p(of_child, &words[1], me, next);
    shmem_ctx_long_atomic_set(of_world, &words[2], me, next);
    shmem_ctx_quiet(of_child);
    shmem_ctx_quiet(of_world);
    /* A new context reuses the slot of an ended one, with the PE numbers of its own team. */
    CHECK(shmem_team_create_ctx(child, 0, &later) == 0 && shmem_ctx_get_team(later, &of) == 0);
    CHECK(of == child && shmem_ctx_long_g(later, &words[0], next) == me);
    shmem_team_sync(child);
    CHECK(words[1] == before && words[2] == before);
    shmem_ctx_destroy(later);
    shmem_ctx_destroy(of_child);
    shmem_ctx_destroy(of_world);
    shmem_team_destroy(child);
}

/* Each PE alone: in every group of calls this PE is at both ends, also when there are other PEs.
 */
static void alone(void) {
    static long there[6], all[2];
    static uint64_t signal_word;
    static long lock;
    shmem_team_t mine = SHMEM_TEAM_INVALID, made;
    shmem_ctx_t ctx;
    for (int pe = 0; pe < pes; ++pe) {
        CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, pe, 0, 1, NULL, 0, &made) == 0);
        if (pe == me) mine = made;
    }
    CHECK(shmem_team_create_ctx(mine, SHMEM_CTX_PRIVATE, &ctx) == 0);
    const long from[6] = {1, 2, 3, 4, 5, 6};
    long back[6] = {0};
    shmem_ctx_long_put(ctx, there, from, 2, 0);
    shmem_ctx_long_put_nbi(ctx, there + 2, from + 2, 1, 0);
    shmem_ctx_long_p(ctx, there + 3, 4, 0);
    shmem_ctx_long_iput(ctx, there + 4, from + 4, 1, 1, 2, 0);
    shmem_ctx_quiet(ctx);
    shmem_ctx_long_get(ctx, back, there, 4, 0);
    shmem_ctx_long_ibget(ctx, back + 4, there + 4, 2, 2, 2, 1, 0);
    CHECK(memcmp(back, from, sizeof back) == 0 && memcmp(there, from, sizeof there) == 0);
    CHECK(shmem_ctx_long_g(ctx, there + 5, 0) == 6 && shmem_team_ptr(mine, there, 0) == there);
    CHECK(shmem_ctx_long_atomic_fetch_add(ctx, there, 10, 0) == 1 && there[0] == 11);
    CHECK(shmem_ctx_long_atomic_compare_swap(ctx, there, 11, 12, 0) == 11 && there[0] == 12);
    shmem_ctx_long_put_signal(ctx, there, from, 1, &signal_word, 5, SHMEM_SIGNAL_ADD, 0);
    CHECK(shmem_signal_wait_until(&signal_word, SHMEM_CMP_EQ, 5) == 5 && there[0] == 1);
    CHECK(shmem_long_broadcast(mine, all, there + 1, 1, 0) == 0 && all[0] == 2);
    CHECK(shmem_long_collect(mine, all, there + 2, 2) == 0 && all[0] == 3 && all[1] == 4);
    CHECK(shmem_long_fcollect(mine, all, there, 2) == 0 && all[0] == 1 && all[1] == 2);
    CHECK(shmem_long_alltoall(mine, all, there + 2, 2) == 0 && all[0] == 3 && all[1] == 4);
    CHECK(shmem_long_alltoalls(mine, all, there, 1, 2, 2) == 0 && all[0] == 1 && all[1] == 3);
    CHECK(shmem_long_prod_reduce(mine, all, there + 4, 2) == 0 && all[0] == 5 && all[1] == 6);
    CHECK(shmem_long_sum_inscan(mine, all, there, 2) == 0 && all[0] == 1 && all[1] == 2);
    CHECK(shmem_long_sum_exscan(mine, all, there, 2) == 0 && all[0] == 0 && all[1] == 0);
    CHECK(shmem_team_sync(mine) == 0);
    shmem_set_lock(&lock); /* all PEs take it, so each waits for the others here */
    shmem_clear_lock(&lock);
    shmem_ctx_destroy(ctx);
    shmem_team_destroy(mine);
}

static void start(void) {
    me = shmem_my_pe();
    pes = shmem_n_pes();
}

int main(int argc, char **argv) {
    static const struct test tests[] = {TEST(start),         TEST(handles),
                                        TEST(no_teams),      TEST(teams_of_teams),
                                        TEST(ragged_splits), TEST(contexts_end_with_their_team),
                                        TEST(alone)};
    return run_tests(tests, sizeof tests / sizeof *tests, argc, argv);
}
