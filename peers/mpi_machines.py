"""Where the ranks of an MPI job stand: in network namespaces that talk over TCP, as machines would, or on this machine."""

import functools
import os
import pathlib
import re
import shutil
import subprocess
import tempfile


class Machines:
    """Where ranks run: namespaces with an address each, or this machine."""

    BRIDGE = "matnet-br"

    def __init__(self, local):
        # Several scripts may be at work.
        self.prefix = f"matnet-{os.getpid()}"
        self.names = [f"{self.prefix}-{at}" for at in range(4)]
        self.namespaces = not local and os.geteuid() == 0 and shutil.which("ip") is not None
        if self.namespaces:
            try:
                self.create()
            except subprocess.CalledProcessError as error:
                self.remove()
                self.namespaces = False
                print(f"no network namespaces here ({error.stderr.strip()})")
        if not self.namespaces and not local:
            print("SKIPPED: network namespaces; all ranks run on this machine without TCP")

    def create(self):
        home = self.names[0]
        for name in self.names:
            ip("netns", "add", name)
            ip("-n", name, "link", "set", "lo", "up")
        # A switch in the first of them, so that nothing is changed outside.
        ip("-n", home, "link", "add", self.BRIDGE, "type", "bridge")
        ip("-n", home, "link", "set", self.BRIDGE, "up")
        ip("-n", home, "addr", "add", "10.77.0.1/24", "dev", self.BRIDGE)
        for at, name in enumerate(self.names[1:], 1):
            ip("-n", home, "link", "add", f"port{at}", "type", "veth", "peer", "name", "eth0", "netns", name)
            ip("-n", home, "link", "set", f"port{at}", "master", self.BRIDGE, "up")
            ip("-n", name, "addr", "add", f"10.77.0.{at + 1}/24", "dev", "eth0")
            ip("-n", name, "link", "set", "eth0", "up")
        self.agent = pathlib.Path(tempfile.mkdtemp()) / "agent"
        # What mpirun calls in place of ssh: the address, then a command line.
        self.agent.write_text(
            f'#!/bin/sh\nname={self.prefix}-$((${{1##*.}} - 1))\nshift\n'
            'exec ip netns exec $name unshare --uts sh -c "hostname $name; $*"\n'
        )
        self.agent.chmod(0o755)

    def remove(self):
        for name in self.names:
            subprocess.run(["ip", "netns", "delete", name], capture_output=True)
        if hasattr(self, "agent"):
            shutil.rmtree(self.agent.parent, ignore_errors=True)

    def mpirun(self, ranks, first=None):
        """The beginning of a command line for so many ranks, of which the command that follows has all, or the `first` ones."""
        yields = ["--mca", "mpi_yield_when_idle", "1"]
        if not self.namespaces:
            return ["mpirun", "--oversubscribe", *yields, "-n", str(first or ranks)]
        hosts = ",".join(f"10.77.0.{at + 1}:1" for at in range(ranks))
        net = "10.77.0.0/24"
        options = {"btl": "tcp,self", "btl_tcp_if_include": net}
        # What starts the ranks has a name of its own since Open MPI 5.
        starter = {"plm_ssh_agent": str(self.agent), "prte_if_include": net, "prte_keep_fqdn_hostnames": "1"} if open_mpi() >= 5 else {
            "plm_rsh_agent": str(self.agent), "oob_tcp_if_include": net, "orte_keep_fqdn_hostnames": "1"}
        kind = "--prtemca" if open_mpi() >= 5 else "--mca"
        options = [word for key, value in options.items() for word in ("--mca", key, value)]
        options += [word for key, value in starter.items() for word in (kind, key, value)]
        home = ["ip", "netns", "exec", self.names[0], "unshare", "--uts", "sh", "-c",
                f'hostname {self.names[0]}; exec "$@"', "mpirun"]
        return [*home, "mpirun", *yields, *options, "--host", hosts, "-n", str(first or ranks)]


@functools.cache
def open_mpi():
    """The major version of Open MPI."""
    said = subprocess.run(["mpirun", "--version"], check=True, capture_output=True, text=True).stdout
    found = re.search(r"Open MPI\) (\d+)", said)
    if not found:
        raise SystemExit(f"mpirun of Open MPI 4 or 5 expected, not {said.splitlines()[:1]}")
    return int(found[1])


def ip(*args):
    subprocess.run(["ip", *args], check=True, capture_output=True, text=True)
