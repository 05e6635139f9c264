// Handles: the place and generation of the next handle, and the result for a stale one.
#include "base/handle_table.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace sennit;

struct Object {
    std::atomic<std::uint32_t> handle;
    std::uint32_t value;
};

// Two bits of the generation below the place.
using Layout = HandleLayout<std::uint32_t, 6, 4, 2>;
using OneArray = HandleTable<Object, Layout, TableShape{64, 64}>;
using Chunks = HandleTable<Object, Layout, TableShape{64, 8}>;
using FromZero = HandleTable<Object, Layout, TableShape{64, 8, 4, 0}>;

template <class Table>
class HandleTables : public testing::Test {
  protected:
    ~HandleTables() override { table.close(); }
    Object *make() {
        Object *made = table.take();
        if (made != nullptr) table.publish(*made);
        return made;
    }
    Table table;
};
using Kinds = testing::Types<OneArray, Chunks, FromZero>;
struct KindNames {
    template <class Table>
    static std::string GetName(int kind) {
        return kind == 0 ? "one_array" : kind == 1 ? "chunks" : "from_place_0";
    }
};
TYPED_TEST_SUITE(HandleTables, Kinds, KindNames);

TEST(handle_layout, place_and_generation_share_no_bit) {
    std::set<std::uint32_t> seen;
    for (std::uint32_t place = 0; place < 64; ++place)
        for (std::uint32_t generation = 1; generation <= Layout::kGenerationMost; ++generation) {
            const std::uint32_t handle = Layout::make(place, generation);
            EXPECT_EQ(Layout::place_of(handle), place);
            EXPECT_TRUE(seen.insert(handle).second) << handle;
        }
    EXPECT_EQ(seen.count(0), 0u);
}

TYPED_TEST(HandleTables, every_place_is_used_and_one_more_is_refused) {
    std::set<const Object *> objects;
    for (std::uint32_t i = 0; i < TypeParam::kMost; ++i) {
        EXPECT_FALSE(this->table.is_full());
        Object *made = this->make();
        ASSERT_NE(made, nullptr);
        EXPECT_TRUE(objects.insert(made).second);
    }
    EXPECT_TRUE(this->table.is_full());
    EXPECT_EQ(this->table.take(), nullptr);
    for (const Object *object : objects)
        EXPECT_EQ(this->table.find(object->handle), object);
    EXPECT_EQ(this->table.in_use(), TypeParam::kMost);
}

TYPED_TEST(HandleTables, no_handle_finds_anything_in_a_new_table) {
    for (std::uint32_t handle = 0; handle < 1u << 12; ++handle)
        EXPECT_EQ(this->table.find(handle), nullptr) << handle;
    Object *made = this->table.take();
    ASSERT_NE(made, nullptr);
    for (std::uint32_t handle = 0; handle < 1u << 12; ++handle)
        EXPECT_EQ(this->table.find(handle), nullptr) << handle;
}

// Broken by a table that forgets the generation of a free place and finds the second object.
TYPED_TEST(HandleTables, a_handle_finds_nothing_after_its_object_is_given_back) {
    std::set<std::uint32_t> stale;
    for (std::uint32_t use = 0; use < Layout::kGenerationMost; ++use) {
        Object *made = this->make();
        ASSERT_NE(made, nullptr);
        const std::uint32_t handle = made->handle;
        EXPECT_NE(handle, 0u);
        for (const std::uint32_t old : stale)
            EXPECT_EQ(this->table.find(old), nullptr);
        this->table.give_back(*made);
        EXPECT_EQ(this->table.find(handle), nullptr);
        EXPECT_TRUE(stale.insert(handle).second);
    }
}

TYPED_TEST(HandleTables, the_longest_free_place_is_used_first) {
    std::vector<Object *> made;
    for (std::uint32_t i = 0; i < TypeParam::kMost; ++i)
        made.push_back(this->make());
    const std::vector<std::size_t> order{5, 3, 9, 4};
    for (const std::size_t number : order)
        this->table.give_back(*made[number]);
    for (const std::size_t number : order)
        EXPECT_EQ(this->table.take(), made[number]);
    EXPECT_EQ(this->table.take(), nullptr);
}

TEST(handle_table, four_places_are_used_in_turn) {
    FromZero table;
    std::set<const Object *> seen;
    for (int i = 0; i < 20; ++i) {
        Object *made = table.take();
        ASSERT_NE(made, nullptr);
        seen.insert(made);
        table.publish(*made);
        table.give_back(*made);
    }
    EXPECT_EQ(seen.size(), 4u);
    table.close();
}

TYPED_TEST(HandleTables, an_object_keeps_its_content_while_the_table_grows) {
    std::vector<Object *> made;
    for (std::uint32_t i = 0; i < TypeParam::kMost; ++i) {
        made.push_back(this->make());
        made.back()->value = i;
    }
    for (std::uint32_t i = 0; i < TypeParam::kMost; ++i) {
        EXPECT_EQ(made[i]->value, i);
        EXPECT_EQ(this->table.at(this->table.place_of(*made[i])), made[i]);
    }
}

TYPED_TEST(HandleTables, a_hot_table_agrees_with_its_table_and_is_empty_before_and_after) {
    const auto found = [](const HotTable &hot, std::uint32_t handle) {
        const Object *place = TypeParam::hot_place(hot.first(), handle);
        return place != nullptr && place->handle == handle;
    };
    HotTable hot;
    for (std::uint32_t handle = 0; handle < 1u << 12; ++handle)
        EXPECT_FALSE(found(hot, handle)) << handle;
    std::vector<std::uint32_t> handles;
    for (std::uint32_t i = 0; i < 5; ++i)
        handles.push_back(this->make()->handle);
    this->table.show(hot);
    for (std::uint32_t handle = 0; handle < 1u << 12; ++handle) {
        EXPECT_EQ(found(hot, handle), this->table.find(handle) != nullptr) << handle;
        EXPECT_EQ(TypeParam::hot_find(hot.first(), handle, handle), this->table.find(handle));
    }
    for (const std::uint32_t handle : handles)
        EXPECT_TRUE(found(hot, handle));
    hot.hide();
    for (const std::uint32_t handle : handles)
        EXPECT_FALSE(found(hot, handle));
}

TEST(handle_table, a_hot_table_of_chunks_has_the_first_chunk_only) {
    Chunks table;
    HotTable hot;
    std::vector<const Object *> made;
    for (int i = 0; i < 20; ++i) {
        Object *object = table.take();
        table.publish(*object);
        made.push_back(object);
    }
    table.show(hot);
    for (const Object *object : made) {
        const Object *expected = table.place_of(*object) < 8 ? object : nullptr;
        EXPECT_EQ(Chunks::hot_place(hot.first(), object->handle), expected);
    }
    table.close();
}

// Content written before publish() is visible to any thread that finds the handle; run under tsan.
TYPED_TEST(HandleTables, a_thread_that_finds_an_object_sees_its_content) {
    constexpr int kObjects = 40;
    std::atomic<std::uint32_t> handles[kObjects] = {};
    std::thread reader([&] {
        for (int i = 0; i < kObjects; ++i) {
            std::uint32_t handle = 0;
            while ((handle = handles[i].load(std::memory_order_relaxed)) == 0)
                std::this_thread::yield();
            const Object *object = this->table.find(handle);
            ASSERT_NE(object, nullptr);
            EXPECT_EQ(object->value, static_cast<std::uint32_t>(i + 1));
        }
    });
    for (int i = 0; i < kObjects; ++i) {
        Object *made = this->table.take();
        made->value = static_cast<std::uint32_t>(i + 1);
        // relaxed: the table alone orders the content before the handle is found.
        handles[i].store(this->table.publish(*made), std::memory_order_relaxed);
    }
    reader.join();
}

struct Lent {
    std::uint32_t handle = 0;
};

TEST(pointer_table, an_object_is_found_until_it_is_removed) {
    PointerTable<Lent, HandleLayout<std::uint32_t, 12, 19>, TableShape{4096, 4096}> table;
    std::vector<Lent> lent(4095);
    for (Lent &object : lent)
        ASSERT_TRUE(table.put(&object));
    Lent one_more;
    EXPECT_FALSE(table.put(&one_more));
    EXPECT_TRUE(table.is_full());
    const std::uint32_t handle = lent[7].handle;
    EXPECT_EQ(table.find(handle), &lent[7]);
    table.remove(lent[7]);
    EXPECT_EQ(table.find(handle), nullptr);
    int count = 0;
    table.each([&count](const Lent *) { ++count; });
    EXPECT_EQ(count, 4094);
    EXPECT_TRUE(table.put(&one_more));
    EXPECT_NE(one_more.handle, handle);
}

}  // namespace
