// One rank of a job in which rank 0 is late for sennit_init or sennit_finalize, and lives. Started
// by faults_test.py under `sennit run`.
#include <sennit/sennit.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "scenes.hpp"

namespace {

using sennit::test::expect;
using sennit::test::require;
using sennit::test::sleep_ms;

constexpr int kLong_ms = 10'700;  // longer than the library waits before it warns

bool is_first() {
    return std::strcmp(std::getenv("SENNIT_RANK"), "0") == 0;
}

std::string logged;

void keep(void *, sennit_log_level level, const char *text) {
    if (level == SENNIT_LOG_WARNING) logged += std::string(text) + "\n";
}

// The lowest rank that waited has warned, once, and no other.
void expect_warning(int rank, const char *about) {
    if (rank != 1) return require(logged.empty(), "one rank warns for all");
    require(logged.find(about) != std::string::npos, "the warning names the late rank");
    require(logged.find(about) == logged.rfind(about), "there is one warning");
}

// Broken by a limit that nobody asked for: the launcher would end rank 0 at its work.
void late_for_finalize() {
    expect(sennit_init(nullptr), SENNIT_OK, "init");
    if (is_first()) sleep_ms(kLong_ms);
    const int rank = sennit_rank();
    expect(sennit_finalize(), SENNIT_OK, "finalize");
    expect_warning(rank, "in sennit_finalize for rank 0 (process");
}

void late_for_init() {
    if (is_first()) sleep_ms(kLong_ms);
    expect(sennit_init(nullptr), SENNIT_OK, "init");
    expect_warning(sennit_rank(), "rank 0 did not call sennit_init");
    expect(sennit_finalize(), SENNIT_OK, "finalize");
}

// Broken by an error that leaves the user to guess who was late and what the limit is.
void too_late_for_init() {
    if (is_first()) return sleep_ms(1500);
    (void)setenv("SENNIT_INIT_TIMEOUT", "0.5", 1);
    expect(sennit_init(nullptr), SENNIT_ERR_TIMEOUT, "init");
    const std::string text = sennit_last_error()->text;
    require(sennit_last_error()->peer == 0, "the error has the late rank");
    require(text.find("rank 0 did not call sennit_init in time") == 0, text.c_str());
    require(text.find("SENNIT_INIT_TIMEOUT") != std::string::npos, "the error names the knob");
}

void too_late_for_finalize() {
    (void)setenv("SENNIT_FINALIZE_TIMEOUT", "0.5", 1);
    expect(sennit_init(nullptr), SENNIT_OK, "init");
    if (is_first()) {
        sleep_ms(1500);
        (void)sennit_finalize();
        return;
    }
    expect(sennit_finalize(), SENNIT_ERR_TIMEOUT, "finalize");
    const std::string text = sennit_last_error()->text;
    require(sennit_last_error()->peer == 0, "the error has the late rank");
    require(text.find("rank 0 (process") == 0, text.c_str());
    require(text.find("SENNIT_FINALIZE_TIMEOUT") != std::string::npos, "the error names the knob");
}

// The ranks wait for each other in different teams, and the launcher is killed.
void launcher_ends() {
    expect(sennit_init(nullptr), SENNIT_OK, "init");
    sennit_team team;
    expect(sennit_team_split(SENNIT_TEAM_WORLD, 0, 0, &team), SENNIT_OK, "split");
    std::printf("ready\n");
    (void)std::fflush(stdout);
    expect(sennit_barrier(is_first() ? SENNIT_TEAM_WORLD : team, SENNIT_FOREVER),
           SENNIT_ERR_PEER_LOST, "barrier");
    require(std::strstr(sennit_last_error()->text, "the launcher has ended") != nullptr,
            sennit_last_error()->text);
    (void)sennit_finalize();
}

void run(const std::string &scene) {
    if (scene == "launcher_ends") return launcher_ends();
    (void)sennit_log_set(keep, nullptr, SENNIT_LOG_WARNING);
    if (scene == "for_finalize") return late_for_finalize();
    if (scene == "for_init") return late_for_init();
    if (scene == "too_late_for_init") return too_late_for_init();
    if (scene == "too_late_for_finalize") return too_late_for_finalize();
    std::fprintf(stderr, "no scene %s\n", scene.c_str());
    std::exit(2);
}

}  // namespace

int main(int count, char **words) {
    return sennit::test::play(count, words, run);
}
