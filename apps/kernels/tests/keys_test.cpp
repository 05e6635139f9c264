// Tests the keys of NAS: sorting them must give the ranks that NAS publishes. Also the groups of
// keys and the panels of products.
#include "nas.hpp"
#include "product.hpp"
#include "sort.hpp"

#include "common/failure.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

namespace kernels {
namespace {

// Breaks when the generator, a table, or a change of the first iteration is wrong.
TEST(nas, five_keys_of_small_classes_have_their_published_ranks) {
    for (const char *name : {"S", "W", "A"}) {
        const Nas &nas = *nas_class(name);
        std::vector<Key> keys(nas.total);
        fill_nas_keys(nas, 0, keys.size(), keys.data());
        for (std::size_t i = 0; i < nas.places.size(); ++i) {
            const Key key = keys[nas.places[i]];
            const auto less =
                std::count_if(keys.begin(), keys.end(), [key](Key other) { return other < key; });
            EXPECT_EQ(less, nas.ranks[i]) << name << ", key " << nas.places[i];
        }
    }
}

// Breaks when a rank that begins in the middle has other keys than a rank that has all keys.
TEST(nas, keys_do_not_depend_on_the_first_place) {
    const Nas &nas = *nas_class("S");
    std::vector<Key> all(1000), part(500);
    fill_nas_keys(nas, 0, all.size(), all.data());
    fill_nas_keys(nas, 500, part.size(), part.data());
    EXPECT_TRUE(std::equal(part.begin(), part.end(), all.begin() + 500));
}

// Breaks when a rank gets keys with smaller values than a rank before it.
TEST(sort, higher_ranks_get_larger_keys_and_no_key_is_lost) {
    Options options;
    options.size = 1000;
    options.values = 1000;
    Sort sort(options, 1, 3);
    sort.prepare(0);
    std::vector<int> counts, places;
    const Key *const grouped = sort.group(counts, places);
    EXPECT_EQ(std::accumulate(counts.begin(), counts.end(), 0), 1000);
    for (std::size_t to = 1; to < 3; ++to) {
        EXPECT_EQ(places[to], places[to - 1] + counts[to - 1]);
        EXPECT_LT(*std::max_element(grouped + places[to - 1], grouped + places[to]),
                  *std::min_element(grouped + places[to], grouped + places[to] + counts[to]));
    }
}

// Breaks when a panel has no owner, two, or a place beyond its block.
TEST(product, each_panel_lies_in_one_block_of_each_matrix) {
    Options options;
    options.kernel = "summa";
    options.rows = 2;
    options.shape = {7, 11, 13};
    const Product product(options, 0, 6);
    EXPECT_EQ(product.panels, 6);
    for (int t = 0; t < product.panels; ++t) {
        EXPECT_EQ(product.a_owner(t), t / 2);
        EXPECT_EQ(product.b_owner(t), t / 3);
        EXPECT_LE(product.a_place(t) + product.a_panel, product.a_block);
        EXPECT_LE(product.b_place(t) + product.b_panel, product.b_block);
    }
}

}  // namespace
}  // namespace kernels
