# SPDX-License-Identifier: GPL-2.0-or-later
"""Connects a training loop to Rubato: it sends reports and receives checkpoint requests.

    import rubato

    with rubato.training(batch=256, progress_file="progress.json") as run:
        for batch in batches(start=run.samples):
            loss = train(batch)
            run.step(samples=256, loss=loss)
            if run.should_checkpoint:
                with run.checkpointing():
                    save_model()

A job with resize=live asks for notices, and changes its processes when its number of GPUs changes:

    with rubato.training(batch=256, notices=True) as run:
        for batch in batches():
            ...
            notice = run.notice
            if notice and notice.live and (notice.step == "done" or notice.gpus < notice.before):
                use_gpus(notice.gpus, without_nodes=notice.leave)
            if notice:
                run.answered(notice)

No call raises an exception into the training loop or blocks it. Each problem is logged once, by the
logger "rubato". Outside of Slurm nothing is sent. Only one process of a job reports, usually rank 0.
"""
import contextlib
import json
import logging
import math
import os
import re
import signal as signals
import subprocess
import threading
import time
from types import TracebackType
from typing import Any, Callable, Dict, Iterator, List, NamedTuple, Optional, Tuple, Type, Union

__all__ = ["Allocation", "Node", "Notice", "Notices", "Run", "allocation", "answer", "nodes", "training"]

_log = logging.getLogger("rubato")
_INTERVAL = 60.0        # seconds between reports; Rubato drops more frequent reports
_FIRST = 10.0           # seconds until the first report
_SCONTROL_SECONDS = 10.0
_WAIT_SECONDS = 600     # of one call of `rubato wait-resize`
_RETRY, _SOON = 30.0, 0.5   # seconds after a call that failed, or that a signal ended
# Exit codes of `rubato wait-resize`: with a notice; without one, as the time is over or the job has ended.
_NOTICE_CODES, _TIMEOUT_CODE, _ENDED_CODE = (0, 10, 11, 12, 13), 124, 3


def _number(text: Optional[str]) -> Optional[int]:
    return int(text) if text is not None and re.fullmatch(r"[0-9]{1,18}", text) else None


def _numbers(text: Optional[str]) -> Optional[List[int]]:
    words = [_number(word) for word in text.split(",")] if text else []
    found = [number for number in words if number is not None]
    return found if found and len(found) == len(words) else None


class Allocation:
    """Rubato's decision for this job, from its environment. None: not known."""

    def __init__(self, environment: Optional[Dict[str, str]] = None) -> None:
        env = dict(os.environ) if environment is None else environment
        self.job_type: Optional[str] = env.get("RUBATO_JOB_TYPE") or None
        self.gpus: Optional[int] = _number(env.get("RUBATO_GPUS"))
        self.gpu_type: Optional[str] = env.get("RUBATO_GPU_TYPE") or None
        self.batch: Optional[int] = _number(env.get("RUBATO_BATCH"))
        self.batch_shares: Optional[List[int]] = _numbers(env.get("RUBATO_BATCH_SHARES"))
        self.plan: Optional[str] = env.get("RUBATO_PLAN") or None
        self.restart_reason: Optional[str] = env.get("RUBATO_RESTART_REASON") or None
        self.resize_count: int = _number(env.get("RUBATO_RESIZE_COUNT")) or 0
        self.restarts: int = _number(env.get("SLURM_RESTART_COUNT")) or 0


def allocation() -> Allocation:
    """Rubato's decision for the job of this process."""
    return Allocation()


class Notice:
    """What Rubato tells a running job of a change of its number of GPUs, or of its batch or plan on
    those that it has: rubato-wait-resize(1)."""

    def __init__(self, document: Dict[str, Any]) -> None:
        #: Grows with each notice of a run.
        self.number: int = document["notice"]
        #: "coming", then "done", or "failed": the job keeps its size.
        self.step: str = document["step"]
        #: The job runs on. Otherwise it is restarted, and has its checkpoint signal.
        self.live: bool = document["live"]
        self.before: int = document["from"]
        #: GPUs afterwards; 0: the job waits in the queue again.
        self.gpus: int = document["gpus"]
        #: Hostlists of the nodes that go and that come, as srun reads them; "": none.
        self.leave: str = document.get("leave", "")
        self.come: str = document.get("come", "")
        #: Global batch on these GPUs, in samples, and execution plan; None: as before.
        self.batch: Optional[int] = document.get("batch")
        self.plan: Optional[str] = document.get("plan")

    def __repr__(self) -> str:
        return f"Notice({self.number}: {self.step}, {self.before} -> {self.gpus} GPUs)"


def answer(notice: Notice) -> None:
    """Tells Rubato that the job is ready for a change that comes. Raises OSError or
    subprocess.SubprocessError where scontrol does not work; `Run.answered` does not."""
    job = os.environ.get("SLURM_JOB_ID")
    if notice.step == "coming" and job:
        _by_scontrol(job, f"ack notice={notice.number}")


class Notices:
    """Follows the notices of this job in a thread, which ends with the process. `Run` has one; programs
    that start a training use it alone.

    heard: called in the thread with each notice; trouble: called with what does not work (default: logged)
    """

    def __init__(self, heard: Callable[[Notice], None],
                 trouble: Optional[Callable[[str, Exception], None]] = None) -> None:
        self._heard = heard
        self._trouble = trouble or (lambda what, error: _log.warning("%s: %s", what, error))
        self._ended = threading.Event()
        self._child: Optional["subprocess.Popen[str]"] = None
        self._thread = threading.Thread(target=self._follow, name="rubato-notices", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def end(self) -> None:
        self._ended.set()
        child = self._child
        if child is not None:
            child.terminate()

    def _wait(self, after: int) -> Tuple[int, str]:
        words = ["rubato", "wait-resize", "--json", "--timeout", str(_WAIT_SECONDS)]
        if after:
            words += ["--after", str(after)]
        with subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True) as self._child:
            if self._ended.is_set():    # between its start and here
                self._child.terminate()
            text = self._child.communicate()[0]
            return self._child.returncode, text

    def _follow(self) -> None:
        after = 0
        while not self._ended.is_set():
            try:
                code, text = self._wait(after)
                if code in _NOTICE_CODES:
                    notice = Notice(json.loads(text))
                    after = notice.number
                    self._heard(notice)
                    continue
                if code == _ENDED_CODE:
                    return
                if code == _TIMEOUT_CODE or self._ended.is_set():
                    continue
                if code < 0:    # a signal that was for the training
                    self._ended.wait(_SOON)
                    continue
                raise RuntimeError(f"rubato wait-resize ended with {code}")
            except FileNotFoundError as error:      # there is no such program on this node
                return self._trouble("notices", error)
            except Exception as error:      # pylint: disable=broad-except
                self._trouble("notices", error)
            self._ended.wait(_RETRY)


class Node(NamedTuple):
    """A node of a job, with what the job holds there."""
    name: str
    gpus: int
    cpus: int


def _asked(*words: str) -> str:
    return subprocess.run(words, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, timeout=_SCONTROL_SECONDS).stdout


def _names(hostlist: str) -> List[str]:
    return _asked("scontrol", "show", "hostnames", hostlist).split()


def _count(ids: str) -> int:
    """Numbers in a list such as 0-3,8."""
    parts = [part.partition("-") for part in ids.split(",") if part]
    return sum(int(last or first) - int(first) + 1 for first, _, last in parts)


def _read_nodes(shown: str, names: Callable[[str], List[str]]) -> List[Node]:
    """The nodes of `scontrol show job -d`, which has a line for nodes with the same share:
    Nodes=n[1-2] CPU_IDs=0-3 Mem=4000 GRES=gpu:a100:4(IDX:0-3)"""
    found: List[Node] = []
    for hosts, rest in re.findall(r"^ +Nodes=(\S+) (.*)$", shown, re.MULTILINE):
        cpus = re.search(r"CPU_IDs=(\S+)", rest)
        gpus = sum(int(count) for count in re.findall(r"gpu(?::[^:(,\s]+)?:(\d+)\(", rest))
        found += [Node(name, gpus, _count(cpus[1]) if cpus else 1) for name in names(hosts)]
    return found


def nodes(job: Optional[str] = None, without: str = "") -> List[Node]:
    """The nodes of a job now, in Slurm's order, but for those of the hostlist `without`; by default
    of this job. Its environment has those of the start. Raises OSError or
    subprocess.SubprocessError where scontrol does not work."""
    job = job or os.environ.get("SLURM_JOB_ID") or ""
    gone = set(_names(without)) if without else set()
    return [node for node in _read_nodes(_asked("scontrol", "show", "job", "-d", job), _names)
            if node.name not in gone]


def _append(path: str, line: str) -> None:
    """One write at the end of the report file; other ranks may write too."""
    file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        os.write(file, line.encode("ascii"))
    finally:
        os.close(file)


def _by_scontrol(job: str, line: str) -> None:
    # Without Rubato there is no such partition: slurmctld refuses the update, and the comment stays.
    subprocess.run(["scontrol", "update", f"JobId={job}", f"Comment=rubato!{line}",
                    "Partition=rubato!"], check=True,
                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                   timeout=_SCONTROL_SECONDS)


def _send(line: str) -> None:
    """Sends through the report file if there is one, otherwise as an update of the job's comment."""
    path = os.environ.get("RUBATO_REPORT_FILE")
    if path and path != os.devnull:
        try:
            return _append(path, line + "\n")
        except OSError:     # gone, full, or not in this container
            pass
    job = os.environ.get("SLURM_JOB_ID")
    if job:
        _by_scontrol(job, line)
    return None


def _signal_number(name: Union[str, int, None]) -> Optional[int]:
    """"USR1", "SIGUSR1", "B:USR1@60" (as the hint says it) or a number."""
    if name is None:
        return None
    text = str(name).split(":")[-1].partition("@")[0].upper()
    if text.isdigit():
        return int(signals.Signals(int(text)))
    return int(signals.Signals[text if text.startswith("SIG") else "SIG" + text])


def _quiet(method: Callable[..., Any]) -> Callable[..., Any]:
    """The method, with its errors logged once instead of raised."""
    def wrapped(self: "Run", *args: Any, **words: Any) -> Any:
        try:
            return method(self, *args, **words)
        except Exception as error:      # pylint: disable=broad-except
            self._trouble(method.__name__, error)
            return None
    wrapped.__name__, wrapped.__doc__ = method.__name__, method.__doc__
    return wrapped


class Run:
    """One run of a training, from start to end or restart. Made by `training`."""

    def __init__(self, batch: int, samples: int, signal: Union[str, int, None],
                 progress_file: Optional[str], interval: Optional[float],
                 send: Callable[[str], None], clock: Callable[[], float],
                 notices: bool = False) -> None:
        self.allocation = Allocation()
        #: Global batch: what Rubato chose, else what was given.
        self.batch: int = self.allocation.batch or batch
        #: Samples done since the job began, over all its restarts.
        self.samples: int = samples
        #: Samples/s since the last report, 0 until it is known.
        self.rate: float = 0.0
        #: True from the checkpoint signal until `checkpointing` has ended.
        self.should_checkpoint: bool = False
        #: What Rubato told last of a change of size; None once it is `answered`, or without `notices`.
        self.notice: Optional[Notice] = None
        self._notices = Notices(self._hear, self._trouble) if notices else None
        self._wanted_signal, self._progress_file = signal, progress_file
        self._interval = self._read_interval(interval)
        self._send, self._clock = send, clock
        self._more: Dict[str, float] = {}
        self._lock = threading.Condition()
        self._told: set = set()
        self._saving = 0.0      # seconds of checkpoints so far
        # (time, samples, self._saving) of the last iteration, and of the last that was reported.
        self._last: Optional[Tuple[float, int, float]] = None
        self._mark: Optional[Tuple[float, int, float]] = None
        self._reported = -math.inf
        self._ended = False
        self._signalled = False     # since the last checkpoint
        self._old_handler: Any = None
        self._thread: Optional[threading.Thread] = None

    @staticmethod
    def _read_interval(given: Optional[float]) -> float:
        if given is None:
            try:
                given = float(os.environ.get("RUBATO_REPORT_INTERVAL", _INTERVAL))
            except ValueError:
                given = _INTERVAL
        return given if math.isfinite(given) and given >= 0.1 else _INTERVAL

    def _trouble(self, what: str, error: Exception) -> None:
        if what not in self._told:
            self._told.add(what)
            _log.warning("%s: %s: %s; the training goes on", what, type(error).__name__, error)

    # -- called by the training loop -----------------------------------------------------------

    @_quiet
    def step(self, samples: Optional[int] = None, loss: Optional[float] = None,
             forward: Optional[float] = None, iteration: Optional[float] = None,
             noise: Optional[float] = None, sync: Optional[float] = None,
             optimise: Optional[float] = None) -> None:
        """An iteration has ended.

        samples: of all GPUs together (default: the batch); loss: training loss; forward,
        iteration: seconds of the forward pass and of the whole iteration; noise: gradient noise
        scale, samples; sync, optimise: seconds of the iteration's communication that nothing hides
        and of the update of the parameters.
        """
        done = self.batch if samples is None else int(samples)
        with self._lock:
            self.samples += max(0, done)
            self._last = (self._clock(), self.samples, self._saving)
            if self._mark is None:
                # The first iteration also compiles and loads, so the measurement starts after it.
                self._mark = self._last
                self._lock.notify()
            for key, value, least in (("loss", loss, -math.inf), ("forward", forward, 0.0),
                                      ("iteration", iteration, 0.0), ("noise", noise, 0.0),
                                      ("sync", sync, 0.0), ("optimise", optimise, 0.0)):
                if value is not None and math.isfinite(float(value)) and float(value) >= least:
                    self._more[key] = float(value)

    @contextlib.contextmanager
    def checkpointing(self) -> Iterator[None]:
        """Round the saving of a checkpoint: its time does not count as training, and behind it
        `should_checkpoint` is False and the progress file is up to date. After the signal, Rubato
        hears that the job is ready: the rest of the lead time is not waited for."""
        begin = self._clock()
        try:
            yield
        finally:
            with self._lock:
                self._saving += self._clock() - begin
        self.should_checkpoint = False
        self._save_progress()
        self._tell_starter()
        if self._signalled:
            self._signalled = False
            threading.Thread(target=self._answer, name="rubato-ready", daemon=True).start()

    @_quiet
    def _tell_starter(self) -> None:
        # rubato-torchrun waits for it.
        path = os.environ.get("RUBATO_SAVED_FILE")
        if path:
            with open(path, "w", encoding="ascii") as file:
                file.write(f"{self.samples}\n")

    @_quiet
    def _answer(self) -> None:
        # Not through the report file, of which only the last line of an interval is sent.
        job = os.environ.get("SLURM_JOB_ID")
        if job and self.allocation.gpus is not None:
            _by_scontrol(job, "ack notice=0")

    def _hear(self, notice: Notice) -> None:
        self.notice = notice

    @_quiet
    def answered(self, notice: Notice) -> None:
        """The loop has done what the notice asks for. If a change comes, Rubato hears that the job is ready
        for it, so that the rest of the lead time is not waited for. For a restart call it with the
        checkpoint written, and train on: a job that ends by itself has ended for good."""
        if self.notice is notice:
            self.notice = None
        threading.Thread(target=self._ready, args=(notice,), name="rubato-ready", daemon=True).start()

    @_quiet
    def _ready(self, notice: Notice) -> None:
        answer(notice)

    # -- progress that outlives a restart ------------------------------------------------------

    @_quiet
    def _load_progress(self) -> None:
        if self._progress_file and os.path.exists(self._progress_file):
            with open(self._progress_file, encoding="ascii") as file:
                self.samples = max(self.samples, int(json.load(file)["samples"]))

    @_quiet
    def _save_progress(self) -> None:
        if not self._progress_file:
            return
        new = f"{self._progress_file}.{os.getpid()}.new"
        with open(new, "w", encoding="ascii") as file:
            json.dump({"samples": self.samples}, file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(new, self._progress_file)

    # -- reports -------------------------------------------------------------------------------

    def _line(self) -> Optional[str]:
        """The report since the last one; None without new samples. Call with the lock held."""
        if self._mark is None or self._last is None:
            return None
        seconds = self._last[0] - self._mark[0] - (self._last[2] - self._mark[2])
        if seconds <= 0 or self._last[1] <= self._mark[1]:
            return None
        self.rate = (self._last[1] - self._mark[1]) / seconds
        self._mark, self._reported = self._last, self._clock()
        words = [f"samples={self.samples}", f"rate={self.rate:.6g}", f"batch={self.batch}"]
        words += [f"{key}={value:.6g}" for key, value in self._more.items()
                  if key in ("loss", "noise", "sync", "optimise") or value > 0]
        self._more = {}
        return "report " + ";".join(words)

    @_quiet
    def _report(self) -> None:
        with self._lock:
            line = self._line()
        if line:
            self._send(line)

    def _loop(self) -> None:
        with self._lock:
            while self._mark is None and not self._ended:
                self._lock.wait()
        pause = min(_FIRST, self._interval)
        while not self._ended:
            with self._lock:
                self._lock.wait_for(lambda: self._ended, pause)
            if not self._ended:
                self._report()
            pause = self._interval

    # -- the context ---------------------------------------------------------------------------

    @_quiet
    def _listen(self) -> None:
        number = _signal_number(self._wanted_signal)
        if number is None or threading.current_thread() is not threading.main_thread():
            return

        def on_signal(received: int, frame: Any) -> None:
            self.should_checkpoint = self._signalled = True
            if callable(self._old_handler):
                self._old_handler(received, frame)
        self._old_handler = signals.signal(number, on_signal)

    @_quiet
    def _start(self) -> None:
        self._load_progress()
        self._listen()
        self._thread = threading.Thread(target=self._loop, name="rubato", daemon=True)
        self._thread.start()
        if self._notices is not None and os.environ.get("SLURM_JOB_ID"):
            self._notices.start()

    @_quiet
    def _end(self) -> None:
        if self._notices is not None:
            self._notices.end()
        with self._lock:
            self._ended = True
            self._lock.notify()
        number = _signal_number(self._wanted_signal)
        if self._old_handler is not None and number is not None:
            signals.signal(number, self._old_handler)
            self._old_handler = None
        if self._clock() - self._reported >= self._interval:
            last = threading.Thread(target=self._report, name="rubato-last", daemon=True)
            last.start()
            last.join(2.0)

    def __enter__(self) -> "Run":
        self._start()
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], value: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        self._end()


def training(batch: int, samples: int = 0, signal: Union[str, int, None] = "USR1",
             progress_file: Optional[str] = None, interval: Optional[float] = None,
             send: Callable[[str], None] = _send,
             clock: Callable[[], float] = time.monotonic, notices: bool = False) -> Run:
    """A training, as a context manager.

    batch:          global batch, samples; RUBATO_BATCH stands before it
    samples:        done before this run, when no progress file says it
    signal:         the checkpoint signal, as in --dl-checkpoint; None: no handler
    progress_file:  keeps the samples done from checkpoint to restart
    interval:       seconds between reports; default $RUBATO_REPORT_INTERVAL, else 60
    send, clock:    for tests
    notices:        hear of changes of the job's number of GPUs (`Run.notice`); needs the command rubato
    """
    return Run(batch, samples, signal, progress_file, interval, send, clock, notices)
