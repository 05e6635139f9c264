"""A switch that delays, loses and reorders frames, for rails of tools/cluster. The keeper starts it.

    cluster_relay.py ORDERS PORTS      an open socket, and open TAP devices as JSON {rail: {host: descriptor}}

It replaces netem, which some kernels lack. A port is the end of a host's cable. The settings of a port apply to both directions, so
both ports decide about a frame between two hosts, once each. Each order is one line of JSON, {"ports": [[rail, host], ...],
setting: value, ...}; one byte answers when it is in effect:

    up         false: drops frames; the host has no carrier
    silent     true: drops frames; the host does not notice
    delay_s    delay of each frame
    loss       share of dropped frames, 0 to 1
    late       share of frames that are delayed `late_s` longer, so that others overtake them
    late_s     seconds
    hold_s     all frames are held until this number of seconds is over, then sent in order
    seed       of the random decisions from then on
"""
import fcntl
import heapq
import json
import os
import random
import selectors
import socket
import struct
import sys
import time

FRAME_BYTES = 65536
KEPT_FRAMES = 20000  # of all ports; more are dropped, as by a switch with full buffers
TUNSETIFF, TUNSETCARRIER = 0x400454CA, 0x400454E2
IFF_TAP, IFF_NO_PI = 0x0002, 0x1000


def open_tap(name):
    """A TAP device in the caller's network namespace. It exists as long as the file; it may move to another namespace."""
    file = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(file, TUNSETIFF, struct.pack("16sH22x", name.encode(), IFF_TAP | IFF_NO_PI))
    return file


class Port:
    def __init__(self, rail, host, file):
        self.rail, self.host, self.file = rail, host, file
        self.settings = {"up": True, "silent": False, "delay_s": 0.0, "loss": 0.0, "late": 0.0, "late_s": 0.05}
        self.held_until = 0.0

    def set(self, settings):
        """Changes the named settings; the others stay."""
        if "hold_s" in settings:
            self.held_until = time.monotonic() + settings.pop("hold_s")
        if settings.get("up", self.settings["up"]) != self.settings["up"]:
            fcntl.ioctl(self.file, TUNSETCARRIER, struct.pack("i", settings["up"]))
        self.settings.update(settings)

    def kept_s(self, now, chance):
        """How long this port holds a frame; None: it is lost."""
        own = self.settings
        if not own["up"] or own["silent"] or (own["loss"] and chance.random() < own["loss"]):
            return None
        late_s = own["late_s"] if own["late"] and chance.random() < own["late"] else 0.0
        return max(own["delay_s"] + late_s, self.held_until - now)


class Relay:
    def __init__(self, orders, ports):
        self.orders = orders
        self.ports = {(rail, host): Port(rail, host, file) for rail, hosts in ports.items() for host, file in hosts.items()}
        self.homes = {}  # (rail, address of a card) -> port
        self.kept = []  # heap of (time, number, port, frame)
        self.number = 0
        self.chance = random.Random(1)

    def destinations(self, port, frame):
        target, source = frame[:6], frame[6:12]
        self.homes[port.rail, source] = port
        home = self.homes.get((port.rail, target))
        if home is not None and not target[0] & 1:
            return [home] if home is not port else []
        return [other for other in self.ports.values() if other.rail == port.rail and other is not port]

    def send(self, port, frame):
        try:
            os.write(port.file, frame)
        except OSError:
            pass  # the interface is down or full: lost, as on a wire

    def pass_on(self, port, frame, now):
        for other in self.destinations(port, frame):
            waits = (port.kept_s(now, self.chance), other.kept_s(now, self.chance))
            if None in waits:
                continue
            if sum(waits) == 0.0:
                self.send(other, frame)
            elif len(self.kept) < KEPT_FRAMES:
                self.number += 1
                heapq.heappush(self.kept, (now + sum(waits), self.number, other, frame))

    def read(self, port):
        now = time.monotonic()
        for _ in range(64):  # then it is the turn of the other ports
            try:
                frame = os.read(port.file, FRAME_BYTES)
            except OSError:
                return
            self.pass_on(port, frame, now)

    def send_due(self):
        """Sends the frames that are due; returns seconds to the next one, or None."""
        while self.kept:
            wait_s = self.kept[0][0] - time.monotonic()
            if wait_s > 0:
                return wait_s
            _, _, port, frame = heapq.heappop(self.kept)
            # A cable that was pulled meanwhile carries no frames.
            if port.settings["up"] and not port.settings["silent"]:
                self.send(port, frame)
        return None

    def take_order(self):
        """Returns False if the keeper has gone."""
        text = self.orders.recv(65536)
        if not text:
            return False
        settings = json.loads(text)
        if "seed" in settings:
            self.chance.seed(settings.pop("seed"))
        for rail, host in settings.pop("ports"):
            self.ports[rail, host].set(dict(settings))
        self.orders.send(b"+")
        return True

    def loop(self):
        selector = selectors.DefaultSelector()
        selector.register(self.orders, selectors.EVENT_READ)
        for port in self.ports.values():
            selector.register(port.file, selectors.EVENT_READ, port)
        while True:
            wait_s = self.send_due()
            for key, _ in selector.select(wait_s):
                if key.data is not None:
                    self.read(key.data)
                elif not self.take_order():
                    return


if __name__ == "__main__":
    Relay(socket.socket(fileno=int(sys.argv[1])), json.loads(sys.argv[2])).loop()
