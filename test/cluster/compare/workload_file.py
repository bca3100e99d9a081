# SPDX-License-Identifier: GPL-2.0-or-later
"""A workload as a JSON file: written before the runs, read again by `--workload`."""
import difflib
import json
import os
import pathlib

from . import workload
from .workload import CLASSES, GPUS_OF_A_NODE, MOST_JOBS, NODES, Job, Workload

SCHEMA = "rubato.workload/1"
_TOP = {"schema": str, "seed": int, "time_scale": int, "nodes": dict, "gpus_of_a_node": int,
        "speeds": dict, "jobs": list}
_ALL = {"name": str, "class": str, "submit": (int, float), "limit": int}
#: Further keys of a job of each class, all of them needed but those in _MAY.
_KEYS = {"hinted": {"job_type": str, "gpus": int, "samples": int, "sizes": list,
                    "tells_samples": bool, "resize": str},
         "unhinted_gpu": {"gpus": int, "seconds": dict},
         "cpu": {"cpus": int, "seconds": (int, float)}}
_MAY = {"sizes", "tells_samples", "resize"}


class WorkloadError(Exception):
    """The file is not a workload; the text gives the location and the nearest valid word."""


def _near(word, words):
    found = difflib.get_close_matches(str(word), words, 1, 0.5)
    return f"; did you mean {found[0]!r}?" if found else f"; choose from {', '.join(words)}"


def _kind_text(kind):
    return {int: "a whole number", (int, float): "a number", str: "text", list: "a list",
            dict: "an object", bool: "true or false"}[kind]


def _check(place, given, keys, needed):
    if not isinstance(given, dict):
        raise WorkloadError(f"{place}: an object is wanted")
    for key, value in given.items():
        if key not in keys:
            raise WorkloadError(f"{place}: unknown key {key!r}{_near(key, keys)}")
        wrong = not isinstance(value, keys[key]) or isinstance(value, bool) != (keys[key] is bool)
        if wrong:
            raise WorkloadError(f"{place}: {key} is {json.dumps(value)}; "
                                f"{_kind_text(keys[key])} is wanted")
    for key in needed:
        if key not in given:
            raise WorkloadError(f"{place}: {key!r} is missing")


def _positive(place, key, value, most=None):
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not value > 0:
        raise WorkloadError(f"{place}: {key} is {json.dumps(value)}; it must be above 0")
    if most is not None and value > most:
        raise WorkloadError(f"{place}: {key} is {value}; at most {most} is possible here")


def _by_type(place, key, values):
    """{GPU type: number above 0}, each type once."""
    for word in values:
        if word not in NODES:
            raise WorkloadError(f"{place}: {key}: unknown GPU type {word!r}{_near(word, NODES)}")
    for gpu_type in NODES:
        if gpu_type not in values:
            raise WorkloadError(f"{place}: {key}: {gpu_type!r} is missing")
        _positive(place, f"{key}.{gpu_type}", values[gpu_type])
    return {gpu_type: values[gpu_type] for gpu_type in NODES}


def _check_gpus(place, gpus):
    _positive(place, "gpus", gpus, GPUS_OF_A_NODE * min(NODES.values()))
    if gpus > GPUS_OF_A_NODE and gpus % GPUS_OF_A_NODE:
        raise WorkloadError(f"{place}: gpus is {gpus}; above {GPUS_OF_A_NODE} only whole nodes of "
                            f"{GPUS_OF_A_NODE} are possible")


def _check_sizes(place, job):
    for size in job.sizes:
        _check_gpus(f"{place}: sizes", size)
        if job.gpus > GPUS_OF_A_NODE and size % GPUS_OF_A_NODE:
            raise WorkloadError(f"{place}: sizes: {size} is not a multiple of {GPUS_OF_A_NODE}, "
                                f"which a job on {job.gpus} GPUs needs")
        if size > GPUS_OF_A_NODE >= job.gpus:
            raise WorkloadError(f"{place}: sizes: {size} is more than a node has, and the job asks "
                                "for one node")
    if job.sizes and job.gpus not in job.sizes:
        raise WorkloadError(f"{place}: sizes {job.sizes} lack {job.gpus}, which the job asks for")


def _read_job(place, given):
    kind = given.get("class") if isinstance(given, dict) else None
    if isinstance(given, dict) and "class" in given and kind not in CLASSES:
        raise WorkloadError(f"{place}: unknown class {json.dumps(kind)}{_near(kind, CLASSES)}")
    own = _KEYS.get(kind, {})
    _check(place, given, {**_ALL, **own}, [*_ALL, *(key for key in own if key not in _MAY)])
    if given["submit"] < 0:
        raise WorkloadError(f"{place}: submit is {given['submit']}; it must not be below 0")
    _positive(place, "limit", given["limit"])
    job = Job(given["name"], kind, float(given["submit"]), given["limit"])
    if kind == "cpu":
        _positive(place, "cpus", given["cpus"], 64)
        _positive(place, "seconds", given["seconds"])
        job.cpus, job.seconds = given["cpus"], {"cpu": given["seconds"]}
        return job
    _check_gpus(place, given["gpus"])
    job.gpus = given["gpus"]
    if kind == "unhinted_gpu":
        job.seconds = _by_type(place, "seconds", given["seconds"])
        return job
    known = [name for name, (_, _, on) in workload.trainer().JOB_TYPES.items()
             if set(NODES) <= set(on)]
    if given["job_type"] not in known:
        raise WorkloadError(f"{place}: unknown job type {given['job_type']!r}"
                            f"{_near(given['job_type'], known)}")
    _positive(place, "samples", given["samples"])
    job.job_type, job.samples = given["job_type"], given["samples"]
    job.sizes = sorted(given.get("sizes", []))
    job.tells_samples = given.get("tells_samples", True)
    job.resize = given.get("resize", "")
    if job.resize not in ("", *workload.RESIZES):
        raise WorkloadError(f"{place}: unknown resize {job.resize!r}"
                            f"{_near(job.resize, workload.RESIZES)}")
    _check_sizes(place, job)
    return job


def to_json(load):
    """The JSON document of a workload."""
    jobs = []
    for job in load.jobs:
        entry = {"name": job.name, "class": job.kind, "submit": job.submit, "limit": job.limit}
        if job.kind == "cpu":
            entry.update(cpus=job.cpus, seconds=job.seconds["cpu"])
        elif job.kind == "unhinted_gpu":
            entry.update(gpus=job.gpus, seconds=job.seconds)
        else:
            entry.update(job_type=job.job_type, gpus=job.gpus, samples=job.samples,
                         sizes=job.sizes, tells_samples=job.tells_samples)
            if job.resize:
                entry.update(resize=job.resize)
        jobs.append(entry)
    return {"schema": SCHEMA, "seed": load.seed, "time_scale": workload.TIME_SCALE,
            "nodes": NODES, "gpus_of_a_node": GPUS_OF_A_NODE, "speeds": load.speeds, "jobs": jobs}


def from_json(document, place):
    """A Workload; WorkloadError names what is wrong in `place`."""
    _check(place, document, _TOP, ("schema", "seed", "speeds", "jobs"))
    if document["schema"] != SCHEMA:
        raise WorkloadError(f"{place}: schema is {document['schema']!r}; {SCHEMA!r} is wanted")
    for key, own in (("time_scale", workload.TIME_SCALE), ("nodes", NODES),
                     ("gpus_of_a_node", GPUS_OF_A_NODE)):
        if document.get(key, own) != own:
            raise WorkloadError(f"{place}: {key} is {json.dumps(document[key])}, but the cluster "
                                f"of a comparison has {json.dumps(own)}")
    speeds = _by_type(place, "speeds", document["speeds"])
    jobs, names = [], set()
    for number, given in enumerate(document["jobs"], 1):
        label = given.get("name", "") if isinstance(given, dict) else ""
        where = f"{place}: job {number}" + (f" ({label})" if label else "")
        jobs.append(_read_job(where, given))
        if label in names:
            raise WorkloadError(f"{where}: an earlier job has this name")
        if not label.replace("-", "").replace("_", "").isalnum():
            raise WorkloadError(f"{where}: a name is letters, digits, '-' and '_'")
        names.add(label)
    if not 0 < len(jobs) <= MOST_JOBS:
        raise WorkloadError(f"{place}: {len(jobs)} jobs; 1 to {MOST_JOBS} are possible")
    jobs.sort(key=lambda job: job.submit)
    return Workload(document["seed"], speeds, jobs)


def write(load, path):
    """Writes the file atomically, one line per job."""
    document = to_json(load)
    jobs = ",\n".join("  " + json.dumps(job) for job in document.pop("jobs"))
    head = json.dumps(document, indent=1)[:-2]
    text = f'{head},\n "jobs": [\n{jobs}\n ]\n}}\n'
    new = pathlib.Path(f"{path}.{os.getpid()}.new")
    new.write_text(text, encoding="utf-8")
    new.replace(path)


def read(path):
    try:
        text = pathlib.Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise WorkloadError(f"{path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise WorkloadError(f"{path}: this is no text") from None
    try:
        document = json.loads(text)
    except json.JSONDecodeError as error:
        raise WorkloadError(f"{path}: line {error.lineno}: {error.msg}") from None
    return from_json(document, str(path))
