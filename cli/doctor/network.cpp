// Checks of the network to other nodes: the library, the interfaces, and the progress thread.
#include <fmt/format.h>

#include <cstdio>
#include <cstring>
#include <map>
#include <set>

#include "finding.hpp"

namespace sennit::cli {
namespace {

std::vector<Interface> rails_of(const System &system) {
    std::vector<Interface> rails;
    for (const Interface &one : system.network.interfaces)
        if (one.is_up && !one.is_loopback) rails.push_back(one);
    return rails;
}

}  // namespace

Finding check_libfabric(const System &system) {
    Finding finding("libfabric");
    const Network &network = system.network;
    if (!network.libfabric_error.empty()) {
        finding.is = network.libfabric_error;
        finding.verdict = Verdict::note;
        finding.costs = "ranks reach no rank of another node (SENNIT_ERR_OTHER_NODE)";
        finding.mend = network.is_built_with_libfabric
                           ? "sudo apt install libfabric1 (1.17 or later), on each node"
                           : "build Sennit again where libfabric-dev (1.17 or later) is installed";
        return finding;
    }
    if (network.libfabric.empty()) {
        finding.is = "not asked";
        return finding;
    }
    finding.is = "version " + network.libfabric +
                 (network.provider.empty() ? "; ranks take none of its providers, see sennit info"
                                           : "; ranks take the provider " + network.provider);
    unsigned major = 0;
    unsigned minor = 0;
    (void)std::sscanf(network.libfabric.c_str(), "%u.%u", &major, &minor);
    // The correction is commit 3a46f9c53 of July 2026, which no release up to 2.6.0 has.
    if (major > 2 || (major == 2 && minor > 6)) return finding;
    finding.verdict = Verdict::note;
    finding.costs =
        "in libfabric 2.6 and older, a message with a wrong count overflows memory in the "
        "providers net and tcp: anyone who can connect to the ports of a rank can exploit it";
    finding.mend =
        "libfabric later than 2.6, or a network with only the hosts of the job "
        "(fabric:interface=)";
    return finding;
}

Finding check_interfaces(const System &system) {
    Finding finding("interfaces");
    std::set<int> frames;
    for (const Interface &rail : rails_of(system)) {
        finding.is += (finding.is.empty() ? "" : "; ") + interface_text(rail);
        if (rail.mtu > 0) frames.insert(rail.mtu);
    }
    if (finding.is.empty()) {
        finding.is = "none that leads to other nodes";
        return finding;
    }
    if (frames.size() < 2) return finding;
    finding.verdict = Verdict::note;
    finding.costs = fmt::format(
        "frames have {} to {} bytes: rails are of different speed, and where two hosts differ on "
        "one network large frames are lost (sennit info --peers compares hosts)",
        *frames.begin(), *frames.rbegin());
    finding.mend = fmt::format("sudo ip link set dev INTERFACE mtu {} (on every host of a network)",
                               *frames.rbegin());
    return finding;
}

Finding check_ports(const System &system) {
    Finding finding("ports");
    std::string refused;
    for (const Interface &one : system.network.interfaces) {
        const auto found = system.network.connections.find(one.address);
        if (found == system.network.connections.end() || found->second == 0) continue;
        refused += fmt::format("{}{} ({}): {}", refused.empty() ? "" : "; ", one.address, one.name,
                               std::strerror(found->second));
    }
    if (system.network.connections.empty()) {
        finding.is = "not tried";
        return finding;
    }
    finding.figures = {{"tried", system.network.connections.size()}};
    if (refused.empty()) {
        finding.is =
            "each interface takes connections from this host; sennit info --peers under a "
            "launcher tries them between hosts";
        return finding;
    }
    finding.verdict = Verdict::bad;
    finding.is = "no connection to " + refused;
    finding.costs =
        "a firewall closes the ports of ranks, which the kernel chooses: ranks of other nodes are "
        "out of reach by that interface, and init takes 10 s to find out";
    finding.mend =
        "let TCP between the hosts of the job through (sudo iptables -I INPUT -p tcp -s SUBNET -j "
        "ACCEPT), or take another interface: SENNIT_PATHS=self,mapped,fabric:interface=NAME";
    return finding;
}

Finding check_congestion(const System &system) {
    Finding finding("congestion");
    const std::string name = read_line(system, "/proc/sys/net/ipv4/tcp_congestion_control");
    finding.is = name.empty() ? "the kernel does not report it" : "TCP of this host uses " + name;
    if (name.rfind("bbr", 0) != 0) return finding;
    finding.verdict = Verdict::note;
    finding.costs =
        "if the network to other nodes is TCP: connections of ranks pause; BBR takes that for a "
        "slow network and delays their data, at times by 100 ms";
    finding.mend = "sudo sysctl -w net.ipv4.tcp_congestion_control=cubic  # on each node; or reno";
    return finding;
}

Finding check_progress(const System &system) {
    Finding finding("progress");
    const std::string &progress = system.network.progress;
    finding.is = progress.empty() ? "by a thread that sleeps while no request arrives"
                                  : "SENNIT_PROGRESS=" + progress;
    if (progress.find("off") != std::string::npos) {
        finding.verdict = Verdict::note;
        finding.costs =
            "while a rank computes, requests from ranks of other nodes wait until it calls Sennit";
        finding.mend = "unset SENNIT_PROGRESS";
    }
    return finding;
}

}  // namespace sennit::cli
