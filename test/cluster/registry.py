# SPDX-License-Identifier: GPL-2.0-or-later
"""Registration of scenarios and of the cluster shapes they run on."""
import dataclasses
import typing

from . import slurmconf

#: rubato.conf of a shape that gives none. What the loop knows is published often: scenarios wait for it.
RUBATO_CONF = slurmconf.DEMO_RUBATO_CONF + "PublishInterval=0.2\n"
SHAPES = {}         # name -> slurmconf.Shape
SCENARIOS = {}      # name -> Scenario

#: TestOff words of rubato.conf: each switches one mechanism off.
OFF_WORDS = ("gate", "willrun", "walk", "immediate", "server-count", "reserve", "levels", "needs",
             "predictability", "warm-up", "load", "forecast", "heartbeat", "depth", "stock-plan",
             "ask-backfill", "time-min", "reserve-from",
             "wake", "type",
             "threads", "rewrite", "put-back", "restore", "resv-mask", "publish", "private-data",
             "store", "learning", "orders", "plans", "segment", "round-size", "job-env", "hints",
             "hints-update", "hints-read", "messages", "message-rate", "message-uid", "save",
             "settle", "launch", "prove", "overrun", "statements", "guarantee", "shrink-repair", "restart",
             "keep-place", "trade", "trial", "exploration", "mix", "cpus", "grow", "keep-nodes", "job-summary",
             "change-costs", "usual-work", "notice", "hold-size", "elasticity")
#: What a scenario may need of the machine.
NEEDS = ("rubato", "root", "second-user", "dbd", "spank")


class Skip(Exception):
    """A scenario cannot run here; the text says why."""


@dataclasses.dataclass
class Scenario:
    name: str
    body: typing.Callable
    cluster: str
    needs: tuple
    negative: typing.Union[str, typing.Callable, None]
    timeout: float
    tier: int = 1
    tables: bool = True

    @property
    def title(self):
        return (self.body.__doc__ or self.name).strip().splitlines()[0]


def shape(name, **fields):
    """Declares a cluster shape: shape("mixed", nodes=MIXED_NODES). Fields: slurmconf.Shape.

    The same name may be declared twice only with the same fields.
    """
    made = slurmconf.Shape(**{"rubato_conf": RUBATO_CONF, **fields})
    if SHAPES.get(name, made) != made:
        raise ValueError(f"shape {name} is declared twice, differently")
    SHAPES[name] = made
    return name


def set_mode(mode):
    """Scenarios that write Mode=place write this mode instead, in the shapes too. Call it once all are declared."""
    slurmconf.MODE = mode
    for name, made in SHAPES.items():
        SHAPES[name] = dataclasses.replace(made, rubato_conf=slurmconf.in_mode(made.rubato_conf))


def scenario(cluster="main", needs=(), negative=None, timeout=60.0, tier=1, tables=True):
    """Registers `def body(c): "title" ...` as a scenario on the cluster shape of that name.

    needs:    of NEEDS; what is missing skips the scenario
    negative: the negative control, in which the body must fail:
              a TestOff word ("gate"), a whole line ("TestInject=stop-loop"), or a function
              f(c) that breaks the cluster (the runner mends it afterwards)
    timeout:  seconds the body may take
    tier:     2 for one that takes minutes: run with --tier 2, or by its name
    tables:   False where stock Slurm's node tables do not agree with its jobs either
    """
    unknown = set(needs) - set(NEEDS)
    if unknown:
        raise ValueError(f"needs={unknown}: not one of {', '.join(NEEDS)}")
    if isinstance(negative, str) and "=" not in negative and negative not in OFF_WORDS:
        raise ValueError(f"negative={negative}: not one of {', '.join(OFF_WORDS)}")
    if negative is None:
        raise ValueError("a scenario needs a negative control")

    def register(body):
        name = body.__name__.replace("_", "-")
        if name in SCENARIOS:
            raise ValueError(f"scenario {name} is declared twice")
        SCENARIOS[name] = Scenario(name, body, cluster, tuple(needs), negative, timeout,
                                   tier, tables)
        return body
    return register


shape("main")
