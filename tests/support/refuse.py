"""Runs a command with system calls that the kernel refuses, like the filter of a container.

    refuse.py ERRNO CALL[,CALL...] COMMAND...      refuse.py EPERM memfd_create,bind sennit doctor

Exit code 77 where filters are not available, so that a test is skipped.
"""
import ctypes
import errno
import os
import platform
import struct
import sys

NUMBERS = {
    "x86_64": {"bind": 49, "clone3": 435, "ftruncate": 77, "memfd_create": 319, "process_vm_readv": 310, "setpgid": 109},
    "aarch64": {"bind": 200, "clone3": 435, "ftruncate": 46, "memfd_create": 279, "process_vm_readv": 270, "setpgid": 154},
}
# One BPF instruction: code, jump if true, jump if false, value.
LOAD, EQUAL, RETURN = 0x20, 0x15, 0x06
ALLOW, REFUSE, KILL = 0x7FFF0000, 0x00050000, 0x80000000


def refuse(calls, error):
    """Refuses the calls from now on, in this process and in all programs that it starts or executes. Error None: kills the process."""
    instructions = [struct.pack("HBBI", LOAD, 0, 0, 0)]
    for call in calls:
        instructions.append(struct.pack("HBBI", EQUAL, 0, 1, call))
        instructions.append(struct.pack("HBBI", RETURN, 0, 0, KILL if error is None else REFUSE | error))
    instructions.append(struct.pack("HBBI", RETURN, 0, 0, ALLOW))
    program = ctypes.create_string_buffer(b"".join(instructions))
    filter_ = struct.pack("HxxxxxxP", len(instructions), ctypes.addressof(program))
    libc = ctypes.CDLL(None, use_errno=True)
    no_new_privileges, seccomp, mode_filter = 38, 22, 2
    if libc.prctl(no_new_privileges, 1, 0, 0, 0) != 0 or libc.prctl(seccomp, mode_filter, ctypes.c_char_p(filter_)) != 0:
        print("left out: no seccomp filter here:", os.strerror(ctypes.get_errno()))
        sys.exit(77)


if __name__ == "__main__":
    numbers = NUMBERS.get(platform.machine())
    if numbers is None:
        print("left out: the numbers of system calls are not known for", platform.machine())
        sys.exit(77)
    refuse([numbers[name] for name in sys.argv[2].split(",")], getattr(errno, sys.argv[1]))
    os.execvp(sys.argv[3], sys.argv[3:])
