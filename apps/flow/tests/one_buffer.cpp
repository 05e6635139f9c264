// flow with Sennit and a deliberate mistake: the halos of both stages go into one buffer, with one
// plan and one signal. So stage 2 is sent before anything confirms that the data of stage 1 was
// used. The signal is strict, so the program must end with an error.
#include "run.hpp"
#include "sennit_calls.hpp"

namespace {

class OneBuffer final : public flow::Calls {
  public:
    void start_halo(flow::Halo halo) override { Calls::start_halo(only(halo)); }
    void finish_halo(flow::Halo halo) override { Calls::finish_halo(only(halo)); }

  private:
    static flow::Halo only(flow::Halo halo) {
        return halo == flow::Halo::first ? flow::Halo::second : halo;
    }
};

}  // namespace

int main(int argc, char **argv) {
    return apps::run_with_mpi("flow", &argc, &argv, [&] {
        OneBuffer exchange;
        return flow::run(exchange, argc, argv);
    });
}
