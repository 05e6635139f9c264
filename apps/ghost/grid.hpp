// One rank's part of the problem: its cells, their initial values, the sources, the sums that must
// not change, and the neighbours with which it exchanges slabs.
#pragma once

#include "halo.hpp"
#include "options.hpp"

#include <vector>

namespace ghost {

class Grid {
  public:
    // Throws Failure if the ranks cannot share the cells.
    Grid(const Options &options, int rank, int ranks);
    // Memory for domain().layout.cells() cells; receives the initial values. Call it once, before
    // the functions below.
    void use(double *cells);

    const apps::Decomposition &decomposition() const { return decomposition_; }
    const Domain &domain() const { return domain_; }
    std::size_t variables() const { return domain_.layout.variables; }

    // Adds source `number` to one cell of each variable in a field, on the rank that owns it.
    // Returns the amount added to a variable, which is the same for all variables and known to all
    // ranks.
    double add_source(int field, std::int64_t number);
    // One step of a variable, from this field to the other one.
    void step(int field, std::size_t variable, const Ends &ends, const Outer &outer);
    // Stores the ends of a variable where a step into that field would have stored them.
    void put_ends(int field, std::size_t variable, const Ends &ends) const;
    // This rank's share of each variable's sum: the values in the grid, and what has left it.
    std::vector<double> sums(int field) const;
    // Makes a cell much larger.
    void spoil(int field);
    // Over all variables, of this rank's part.
    std::uint64_t hash(int field) const;

  private:
    void fill(int field);

    apps::Decomposition decomposition_;
    apps::Box box_;
    Stencil stencil_;
    OuterSides outer_{};
    Domain domain_;
    std::vector<double> lost_;  // by variable: the amount that left through this rank's outer sides
};

}  // namespace ghost
