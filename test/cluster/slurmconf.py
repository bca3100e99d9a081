# SPDX-License-Identifier: GPL-2.0-or-later
"""The description of a private cluster, and its slurm.conf, gres.conf and cgroup.conf.

This module starts nothing: `render(shape, site)` turns a Shape and the facts of one cluster (folder,
ports, address, plugin directories) into a dictionary {file name: text}.
"""
import dataclasses
import re
import typing


_NO_PORT = 1    # of nodes without a slurmd
#: What scenarios write as Mode=place (`test/cluster/run --mode`).
MODE = "place"


def in_mode(text):
    """Text of a rubato.conf with MODE where it says Mode=place."""
    return None if text is None else text.replace("Mode=place", f"Mode={MODE}")


@dataclasses.dataclass(frozen=True)
class Nodes:
    """Nodes of one kind.

    names:    host list, "n[1-4]" or "n7"
    gpus:     "a100:4", "v100:1,h100:1" (a mixed node) or "" (no GPU)
    cpus:     cores, two sockets
    threads:  hardware threads of each core
    memory:   MB
    shards:   gres/shard of the node (its GPUs can be shared; GresTypes must name shard)
    features: comma list; None takes the GPU types
    cloud:    True: State=CLOUD, no slurmd until Slurm resumes the node
    extra:    further words of the NodeName line ("Weight=5")
    daemon:   False: the node never has a slurmd, and needs no port of its own
    """
    names: str
    gpus: str = ""
    cpus: int = 64
    threads: int = 1
    memory: int = 256000
    shards: int = 0
    features: typing.Optional[str] = None
    cloud: bool = False
    extra: str = ""
    daemon: bool = True

    def gpu_list(self):
        """[("v100", 1), ("h100", 1)]"""
        pairs = [word.rsplit(":", 1) for word in self.gpus.split(",") if word]
        return [(kind, int(count)) for kind, count in pairs]

    def gpu_count(self):
        return sum(count for _, count in self.gpu_list())


@dataclasses.dataclass(frozen=True)
class Partition:
    """One partition. nodes: host list; extra: further words ("PriorityTier=10 MaxTime=5")."""
    name: str
    nodes: str
    default: bool = False
    extra: str = ""


#: Eight nodes, three GPU types: 4 x a100:4, 2 x h100:8, 2 x v100:2 (36 GPUs).
DEMO_NODES = (Nodes("n[1-4]", "a100:4"), Nodes("n[5-6]", "h100:8"), Nodes("n[7-8]", "v100:2"))
#: The same with n8 holding one v100 and one h100.
MIXED_NODES = (Nodes("n[1-4]", "a100:4"), Nodes("n[5-6]", "h100:8"), Nodes("n7", "v100:2"),
               Nodes("n8", "v100:1,h100:1"))

DEMO_RUBATO_CONF = "Mode=place\nManagedPartitions=all\n"


@dataclasses.dataclass(frozen=True)
class Shape:
    """The shape of a cluster: everything that scenarios on the same cluster share.

    nodes, partitions: as above; without partitions one partition "main" holds all nodes
    options:     slurm.conf keys that replace or extend the defaults of `default_options`;
                 a value of None drops the key
    lines:       further slurm.conf lines, as they are
    rubato_conf: text of rubato.conf beside slurm.conf; None: no such file
    dbd:         True: with a private MariaDB and slurmdbd
    load:        True: the scenario runner keeps background work on it (loaded.py)
    suspend:     True (or any CLOUD node): Resume/Suspend programs that start and stop slurmds
    spank:       words behind spank_rubato.so in plugstack.conf ("interval=1"); None: no such line
    """
    nodes: tuple = DEMO_NODES
    partitions: tuple = ()
    options: dict = dataclasses.field(default_factory=dict)
    lines: tuple = ()
    rubato_conf: typing.Optional[str] = DEMO_RUBATO_CONF
    dbd: bool = False
    load: bool = True
    suspend: bool = False
    spank: typing.Optional[str] = None

    def node_names(self):
        return [name for spec in self.nodes for name in expand(spec.names)]

    def ports(self):
        """Ports that the daemons need: two for slurmctld and slurmdbd, one for each slurmd."""
        return 2 + sum(len(expand(spec.names)) for spec in self.nodes if spec.daemon)

    def node_spec(self, name):
        return next(spec for spec in self.nodes if name in expand(spec.names))

    def powers_nodes(self):
        return self.suspend or any(spec.cloud for spec in self.nodes)


@dataclasses.dataclass
class Site:
    """Facts of one running cluster that its files mention."""
    base: str           # scratch folder
    user: str           # who runs the daemons
    host: str           # short host name as the daemons see it
    addr: str           # loopback address everything binds to
    ctld_port: int
    dbd_port: int
    node_port: int      # slurmd of the i-th node (from 0) listens on node_port + i
    version: tuple      # (22, 5)
    plugin_dir: str     # "<rubato dir>:<stock dir>" or the stock directory
    job_submit: str     # "logging" or ""


def expand(names):
    """Host list -> list of names. Takes "n7", "n[1-4]", "n[1,3-5],b1"."""
    found = []
    for part in re.findall(r"[^,\[\]]+(?:\[[^\]]*\])?", names):
        match = re.fullmatch(r"([^\[]+)\[([^\]]*)\]", part)
        if not match:
            found.append(part)
            continue
        for piece in match[2].split(","):
            first, _, last = piece.partition("-")
            found += [match[1] + str(i) for i in range(int(first), int(last or first) + 1)]
    return found


def default_options(shape, site):
    """Keys of slurm.conf, in order. Shape.options overrides them."""
    base = site.base
    options = {
        "ClusterName": "rubato",
        "SlurmctldHost": f"{site.host}({site.addr})",
        "SlurmUser": site.user,
        "SlurmdUser": site.user,
        "AuthType": "auth/munge",
        "CredType": "cred/munge",
        "AuthInfo": f"socket={base}/munge/munge.sock,cred_expire=5",
        "SlurmctldPort": site.ctld_port,
        "CommunicationParameters": "NoInAddrAny,NoCtldInAddrAny",
        "PluginDir": site.plugin_dir,
        "JobSubmitPlugins": site.job_submit or None,
        "StateSaveLocation": f"{base}/state",
        "SlurmdSpoolDir": f"{base}/spool/%n",
        "SlurmctldPidFile": f"{base}/run/slurmctld.pid",
        "SlurmdPidFile": f"{base}/run/slurmd.%n.pid",
        "SlurmctldLogFile": f"{base}/log/slurmctld.log",
        "SlurmdLogFile": f"{base}/log/slurmd.%n.log",
        "SlurmctldDebug": "info",
        "SlurmdDebug": "info",
        "LogTimeFormat": "iso8601_ms",
        "ProctrackType": "proctrack/linuxproc",
        "TaskPlugin": "task/none",
        "JobAcctGatherType": "jobacct_gather/none",
        "JobCompType": "jobcomp/filetxt",
        "JobCompLoc": f"{base}/log/jobcomp.log",
        "SchedulerType": "sched/backfill",
        "SelectType": "select/cons_tres",
        "SelectTypeParameters": "CR_Core_Memory",
        "SchedulerParameters": "bf_interval=3,bf_continue,batch_sched_delay=0,"
                               "sched_min_interval=100000",
        "PriorityType": "priority/basic",
        "SlurmdParameters": "config_overrides",
        "GresTypes": "gpu",
        "MpiDefault": "none",
        "SwitchType": "switch/none" if site.version < (23, 2) else None,
        "MailProg": "/bin/true",
        "ReturnToService": 2,
        "KillWait": 3,
        "MinJobAge": 600,
        "MaxJobCount": 50000,
        "MaxArraySize": 20001,
        "SlurmctldTimeout": 30,
        "SlurmdTimeout": 120,
        "MessageTimeout": 30,
        "JobRequeue": 1,
    }
    if shape.powers_nodes():
        off = [n for n in shape.node_names() if not shape.node_spec(n).cloud]
        options.update({
            "ResumeProgram": f"{base}/bin/resume", "SuspendProgram": f"{base}/bin/suspend",
            "ResumeTimeout": 120, "SuspendTimeout": 5, "SuspendTime": 5, "ResumeRate": 0,
            "SuspendRate": 0, "SuspendExcNodes": ",".join(off) or None,
            "TreeWidth": 65533})
    if shape.dbd:
        options.update({
            "AccountingStorageType": "accounting_storage/slurmdbd",
            "AccountingStorageHost": site.addr, "AccountingStoragePort": site.dbd_port,
            "AccountingStoragePass": f"{base}/munge/munge.sock",
            "AccountingStorageTRES": "gres/gpu",
            "AccountingStorageEnforce": "associations,limits,qos",
            "AccountingStoreFlags": "job_comment"})
    return options


def node_lines(shape, site):
    """NodeName lines; the ports follow the order of the nodes."""
    lines, port = [], site.node_port
    for spec in shape.nodes:
        words = [f"NodeName={spec.names}", f"NodeAddr={site.addr}"]
        if spec.daemon:
            last = port + len(expand(spec.names)) - 1
            ports = str(port) if last == port else f"[{port}-{last}]"
            port = last + 1
            words += [f"NodeHostname={site.host}", f"Port={ports}"]
        else:
            words.append(f"Port={_NO_PORT}")
        words.append(f"CPUs={spec.cpus * spec.threads}")
        if spec.cpus % 2 == 0:
            words += ["Sockets=2", f"CoresPerSocket={spec.cpus // 2}"]
        else:
            words += ["Sockets=1", f"CoresPerSocket={spec.cpus}"]
        words += [f"ThreadsPerCore={spec.threads}", f"RealMemory={spec.memory}"]
        if spec.gpus:
            gres = [f"gpu:{kind}:{count}" for kind, count in spec.gpu_list()]
            gres += [f"shard:{spec.shards}"] if spec.shards else []
            words.append("Gres=" + ",".join(gres))
        features = spec.features
        if features is None:
            features = ",".join(kind for kind, _ in spec.gpu_list())
        if features:
            words.append(f"Feature={features}")
        if spec.extra:
            words.append(spec.extra)
        words.append("State=CLOUD" if spec.cloud else "State=UNKNOWN")
        lines.append(" ".join(words))
    return lines


def partition_lines(shape):
    parts = shape.partitions or (
        Partition("main", ",".join(spec.names for spec in shape.nodes), default=True),)
    lines = []
    for part in parts:
        words = [f"PartitionName={part.name}", f"Nodes={part.nodes}"]
        words += ["Default=YES"] if part.default else []
        words += [word for word in ("MaxTime=INFINITE", "DefMemPerCPU=1000", "State=UP")
                  if word.split("=")[0] + "=" not in part.extra]
        lines.append(" ".join(words + ([part.extra] if part.extra else [])))
    return lines


def gres_text(shape, site):
    """gres.conf: each GPU is a link to /dev/null, which slurmd accepts as a device."""
    lines = []
    for spec in shape.nodes:
        first = 0
        for kind, count in spec.gpu_list():
            last = first + count - 1
            files = f"{first}" if first == last else f"[{first}-{last}]"
            lines.append(f"NodeName={spec.names} Name=gpu Type={kind} "
                         f"File={site.base}/dev/nvidia{files}")
            first = last + 1
        if spec.shards:
            lines.append(f"NodeName={spec.names} Name=shard Count={spec.shards}")
    return "\n".join(lines) + "\n"


def render(shape, site):
    """{file name: text} for the folder of slurm.conf, rubato.conf not included."""
    options = default_options(shape, site)
    options.update(shape.options)
    lines = [f"{key}={value}" for key, value in options.items() if value is not None]
    lines += list(shape.lines) + node_lines(shape, site) + partition_lines(shape)
    files = {"slurm.conf": "\n".join(lines) + "\n", "gres.conf": gres_text(shape, site)}
    # Nothing here uses cgroups, but a slurmd that looks for them ends if none are mounted (in a
    # container, say). "disabled" came with 23.11; a fixed plugin does not look until it is used.
    files["cgroup.conf"] = ("CgroupPlugin=disabled\n" if site.version >= (23, 11)
                            else "CgroupPlugin=cgroup/v1\n")
    return files
