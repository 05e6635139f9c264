/* Ranks without a path between them: some calls work, and all others report the right error.
 * Started with three ranks; the last one has another SENNIT_NODE, so it counts as another node.
 * Broken by an operation towards another node that returns another error than OTHER_NODE, or none.
 */
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

static void check_peer(int peer, int is_near, sennit_gptr gptr) {
    const sennit_status wanted = is_near ? SENNIT_OK : SENNIT_ERR_OTHER_NODE;
    int number = 7;
    sennit_request request = SENNIT_REQUEST_NULL;
    sennit_path path;
    sennit_locality_level level;
    size_t bytes = 0;
    expect(sennit_peer_path(peer, &path) == SENNIT_OK && (path != SENNIT_PATH_NONE) == is_near,
           "a path leads to near peers alone");
    expect(
        sennit_locality(peer, &level) == SENNIT_OK && (level != SENNIT_LOCALITY_NETWORK) == is_near,
        "other nodes are the network");
    expect(sennit_put(sennit_gptr_at(gptr, peer), &number, sizeof number) == wanted, "put");
    expect(sennit_get(&number, sennit_gptr_at(gptr, peer), sizeof number) == wanted, "get");
    expect(sennit_put_nb(sennit_gptr_at(gptr, peer), &number, 4, &request) == wanted, "put_nb");
    expect(sennit_get_nbi(&number, sennit_gptr_at(gptr, peer), 4) == wanted, "get_nbi");
    expect(sennit_segment_bytes(sennit_gptr_at(gptr, peer), &bytes) == wanted, "segment_bytes");
    expect((sennit_ptr(sennit_gptr_at(gptr, peer)) != NULL) == is_near, "ptr");
    expect(is_near || sennit_last_error()->status == SENNIT_ERR_OTHER_NODE, "the reason of ptr");
    expect(is_near || sennit_last_error()->peer == peer, "the error names the peer");
}

/* A channel needs a common node, even if copies are allowed. */
static void check_channels(int rank) {
    const int far = rank == 2 ? 0 : 2;
    void *const buffer = &(int){0};
    const size_t bytes = sizeof(int);
    const sennit_channel_ends ends = {1, &far, &buffer, &bytes};
    for (unsigned flags = 0; flags < 4; ++flags) {
        void *theirs = (void *)&far;
        sennit_channel channel = {77};
        expect(sennit_channel_open(SENNIT_TEAM_WORLD, &ends, flags, SENNIT_FOREVER, &theirs,
                                   &channel) == SENNIT_ERR_OTHER_NODE,
               "open of a channel");
        expect(channel.handle == 77 && theirs == (void *)&far, "nothing is written");
        expect(sennit_last_error()->peer == far, "the error names the peer");
    }
}

/* Teams need a path between all their ranks; only teams within a node have that. */
static void check_teams(int rank) {
    const int near = rank == 2 ? 1 : 2;
    sennit_team team = {77};
    sennit_gptr gptr;
    char text[64];
    int size = 0;
    expect(sennit_team_split(SENNIT_TEAM_WORLD, 0, 0, &team) == SENNIT_ERR_OTHER_NODE &&
               team.handle == 77,
           "no team of all");
    snprintf(text, sizeof text, "to rank %d, a member", rank == 2 ? 0 : 2);
    expect(strstr(sennit_last_error()->text, text) != NULL &&
               sennit_last_error()->peer == (rank == 2 ? 0 : 2),
           "the error names a rank that no path reaches");
    /* One color without a path makes all colors fail. */
    expect(sennit_team_split(SENNIT_TEAM_WORLD, rank == 1 ? 1 : 0, 0, &team) ==
                   SENNIT_ERR_OTHER_NODE &&
               team.handle == 77,
           "all or none");
    expect(sennit_team_split_locality(SENNIT_TEAM_WORLD, SENNIT_LOCALITY_NODE, &team) == SENNIT_OK,
           "a team for each node");
    for (int i = 0; i < 2; ++i) {
        const sennit_team one = i == 0 ? team : SENNIT_TEAM_NODE;
        expect(sennit_team_size(one, &size) == SENNIT_OK && size == near, "ranks of a node");
        expect(sennit_alloc(one, 8, 0, 0, &gptr) == SENNIT_OK, "alloc on a node");
        expect(sennit_barrier(one, SENNIT_FOREVER) == SENNIT_OK, "barrier of a node");
        expect(sennit_free(gptr) == SENNIT_OK, "free on a node");
    }
    expect(sennit_team_destroy(team) == SENNIT_OK, "destroy");
    expect(sennit_locality_string(rank == 2 ? 0 : 2, text, sizeof text) == SENNIT_OK &&
               strcmp(text, "another node") == 0,
           "the text about another node");
}

int main(void) {
    sennit_gptr world;
    sennit_gptr own;
    sennit_gptr theirs;
    if (sennit_init(NULL) != SENNIT_OK || sennit_size() != 3) return 1;
    const int rank = sennit_rank();
    expect(sennit_alloc(SENNIT_TEAM_WORLD, 64, 0, 0, &world) == SENNIT_OK, "alloc");
    expect(sennit_alloc_local(64, 0, 0, &own) == SENNIT_OK, "alloc_local");
    expect(sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER) == SENNIT_OK, "barrier");
    for (int peer = 0; peer < 3; ++peer)
        check_peer(peer, (peer == 2) == (rank == 2), world);
    check_teams(rank);
    check_channels(rank);
    /* The first local segment has the same id on every rank with the same number of segments. */
    theirs = sennit_gptr_at(own, rank == 2 ? 0 : 2);
    expect(sennit_get(&(int){0}, theirs, 4) == SENNIT_ERR_OTHER_NODE, "get of a local segment");
    expect(sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER) == SENNIT_OK, "barrier");
    expect(sennit_free(own) == SENNIT_OK && sennit_free(world) == SENNIT_OK, "free");
    expect(sennit_finalize() == SENNIT_OK, "finalize");
    return failures != 0;
}
