// The explanation of a kernel's refusal to copy from process to process, from files as the kernel
// would show them. Broken by a refusal without a cause, or with a wrong one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <string>

#include "base/reason.hpp"

namespace sennit {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

constexpr const char *kSeccomp = "seccomp";
constexpr const char *kYama = "kernel.yama.ptrace_scope";
constexpr const char *kNamespace = "user namespace";

// A machine that has neither file until a test creates one.
class Refusal : public testing::Test {
  protected:
    void SetUp() override {
        std::string name = (fs::temp_directory_path() / "sennit-reason-XXXXXX").string();
        ASSERT_NE(mkdtemp(name.data()), nullptr);
        root_ = name;
    }
    void TearDown() override { fs::remove_all(root_); }

    // The line as in /proc/self/status: not the first line, and another line begins like it.
    void filter_is(int mode) {
        std::ofstream(root_ / "status")
            << "Name:\trank\nNoNewPrivs:\t1\nSeccomp:\t" << mode << "\nSeccomp_filters:\t1\n";
    }
    void scope_is(int scope) { std::ofstream(root_ / "scope") << scope << "\n"; }

    std::string cause(int error) const {
        const std::string status = root_ / "status";
        const std::string scope = root_ / "scope";
        return cause_of_refusal(error, RefusalPlaces{status.c_str(), scope.c_str()});
    }

    fs::path root_;
};

TEST_F(Refusal, every_scope_of_yama_but_0_is_a_cause) {
    filter_is(0);
    for (const int scope : {1, 2, 3}) {
        scope_is(scope);
        for (const int error : {EPERM, EACCES}) {
            EXPECT_THAT(cause(error), HasSubstr(kYama)) << scope;
            EXPECT_THAT(cause(error), Not(HasSubstr(kSeccomp))) << scope;
        }
    }
}

TEST_F(Refusal, other_refusals_are_explained_by_credentials_and_user_namespaces) {
    filter_is(0);
    scope_is(0);
    EXPECT_THAT(cause(EPERM), HasSubstr(kNamespace));
    EXPECT_THAT(cause(EPERM), HasSubstr("may not be traced"));
    EXPECT_THAT(cause(EPERM), Not(HasSubstr(kYama)));
}

TEST_F(Refusal, a_machine_without_yama_and_seccomp_still_has_a_cause) {
    EXPECT_THAT(cause(EPERM), HasSubstr(kNamespace));
}

TEST_F(Refusal, a_filter_does_not_hide_the_scope_of_yama) {
    filter_is(2);
    EXPECT_THAT(cause(EPERM), HasSubstr(kSeccomp));
    EXPECT_THAT(cause(EPERM), Not(HasSubstr(kYama)));
    scope_is(1);
    EXPECT_THAT(cause(EPERM), HasSubstr(kSeccomp));
    EXPECT_THAT(cause(EPERM), HasSubstr(kYama));
}

TEST_F(Refusal, a_missing_call_means_a_filter_and_other_errors_have_no_cause) {
    scope_is(1);
    EXPECT_THAT(cause(ENOSYS), HasSubstr("filter of system calls"));
    EXPECT_EQ(cause(ESRCH), "");
    EXPECT_EQ(cause(EFAULT), "");
}

TEST_F(Refusal, the_sentence_has_error_and_cause_and_is_cut_to_the_buffer) {
    char text[256] = "";
    reason_text(Reason{Reason::Code::kernel_refused, EPERM}, SENNIT_PATH_CMA, text, sizeof text);
    EXPECT_THAT(text, HasSubstr("the kernel refused to copy from process to process"));
    EXPECT_THAT(text, HasSubstr("Operation not permitted"));
    EXPECT_THAT(text, HasSubstr(cause_of_refusal(EPERM)));
    EXPECT_NE(*cause_of_refusal(EPERM), '\0');
    char shorter[9];
    reason_text(Reason{Reason::Code::kernel_refused, EPERM}, SENNIT_PATH_CMA, shorter,
                sizeof shorter);
    EXPECT_EQ(std::string(shorter), std::string(text).substr(0, 8));
}

}  // namespace
}  // namespace sennit
