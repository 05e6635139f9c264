// A machine without hwloc: this program's own dlopen does not find hwloc. The library must return
// SENNIT_ERR_UNSUPPORTED with the reason, and everything else must work.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sennit/sennit.h>

#include <cstring>
#include <string>

namespace {

int asked_for_hwloc = 0;

}  // namespace

// Replaces libc's dlopen in this whole program, which links the library statically.
extern "C" void *dlopen(const char *name, int flags) {
    using Function = void *(*)(const char *, int);
    static const auto real = reinterpret_cast<Function>(dlsym(RTLD_NEXT, "dlopen"));
    if (name == nullptr || std::strstr(name, "hwloc") == nullptr) return real(name, flags);
    ++asked_for_hwloc;
    return real("/nowhere/libhwloc.so.15", flags);
}

// Broken by an invented tree, or by a start that needs hwloc.
TEST(without_hwloc, the_tree_of_domains_is_unsupported_and_the_rest_works) {
    ASSERT_EQ(sennit_init(nullptr), SENNIT_OK) << sennit_last_error()->text;
    EXPECT_EQ(asked_for_hwloc, 0) << "a start must not load hwloc";
    int count = 7;
    sennit_domain domain;
    std::memset(static_cast<void *>(&domain), 0x6B, sizeof domain);
    for (int tries = 1; tries <= 2; ++tries) {
        EXPECT_EQ(sennit_domain_count(&count), SENNIT_ERR_UNSUPPORTED);
        EXPECT_EQ(count, 7);
        EXPECT_EQ(asked_for_hwloc, tries * 2 - 1);
        EXPECT_EQ(sennit_domain_get(0, &domain), SENNIT_ERR_UNSUPPORTED);
        EXPECT_EQ(domain.depth, 0x6B6B6B6B);
        const std::string text = sennit_last_error()->text;
        EXPECT_NE(text.find("hwloc"), std::string::npos) << text;
        EXPECT_NE(text.find("/nowhere/libhwloc.so.15"), std::string::npos) << text;
    }
    char text[256] = "";
    EXPECT_EQ(sennit_locality_string(0, text, sizeof text), SENNIT_OK);
    EXPECT_EQ(std::string(text).find("this rank; NUMA "), 0u) << text;
    sennit_team team;
    EXPECT_EQ(sennit_team_split_locality(SENNIT_TEAM_WORLD, SENNIT_LOCALITY_NUMA, &team),
              SENNIT_OK);
    EXPECT_EQ(sennit_team_destroy(team), SENNIT_OK);
    EXPECT_EQ(sennit_finalize(), SENNIT_OK);
}
