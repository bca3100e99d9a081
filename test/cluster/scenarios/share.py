# SPDX-License-Identifier: GPL-2.0-or-later
"""Profiles that one site has learnt decide at another: export, import, forget; and what jobs hear of them."""
import json
import pathlib
import re

from cluster import check, scenario, shape

from . import learn, steps

shape("share", rubato_conf=learn.CONF)


def rows_of(c, kind):
    """The entries of a job type in `rubato models`."""
    text = c.ask(f"rubato models -t {kind} --json", check=False)
    return json.loads(text or "{}").get("models", [])


def fitted_rows(c, kind):
    """Input of the last round's step-time models for that type."""
    rows = learn.published(c, "models-fit.json").get("rows", [])
    return [row for row in rows if row["job_type"] == kind]


def profile_file(c, name, kind, rows):
    """A table to import: (GPU type, GPUs, batch, rate) each."""
    path = c.path(name)
    lines = ["job_type,gpu_type,gpus,nodes,batch,samples,rate"]
    lines += [f"{kind},{gpu},{gpus},1,{batch},20,{rate}" for gpu, gpus, batch, rate in rows]
    pathlib.Path(path).write_text("\n".join(lines) + "\n")
    return path


def without_orders(c):
    """Negative control: slurmctld starts with a store that accepts no orders."""
    c.write_rubato_conf(learn.CONF + "TestOff=orders\n")
    c.restart_ctld()


@scenario(cluster="share", needs=["rubato"], negative=without_orders, timeout=420)
def profiles_travel_from_site_to_site(c):
    """What was learnt of a job type is exported, imported under a name that nobody has run here, decides at once, and is
    forgotten again

    A user sees that the first job of the new type holds the GPU type that another site measured to be fastest; after
    `forget` the type is in no list.
    """
    c.restart_ctld()    # orders are taken or not from the opening of the store on
    kind, other = c.fresh_name("odd"), c.fresh_name("far")
    for job in learn.measure(c, kind):
        c.cmd(f"scancel {job}")
    c.wait(lambda: len(rows_of(c, kind)) == len(learn.PLACES), 60, "the profile in rubato models")
    exported = c.path("exported.json")
    c.cmd(f"rubato models export -t {kind} -o {exported}")
    text = pathlib.Path(exported).read_text()
    check(text.count(f'"job_type":"{kind}"') == 3, "three places exported", text)
    pathlib.Path(exported).write_text(text.replace(kind, other))

    check(rows_of(c, other) == [], "nothing known of the type before the import", rows_of(c, other))
    c.cmd(f"rubato models import {exported}", timeout=180)
    c.wait(lambda: len(rows_of(c, other)) == len(learn.PLACES), 60, "the import in rubato models")
    c.wait(lambda: len(fitted_rows(c, other)) == len(learn.PLACES), 60, "the import in a round")
    c.cmd(f"rubato models export -t {other} -o {c.path('again.json')}")
    again = pathlib.Path(c.path("again.json")).read_text()
    check(again == pathlib.Path(exported).read_text(), "the same bytes exported again", again)
    job, where = learn.next_job(c, other)
    check(learn.type_of(where) == ["v100"], "the type that was fastest elsewhere, v100", where)
    c.cmd(f"scancel {job}")

    c.cmd(f"rubato models forget {other} --dry-run")
    check(len(rows_of(c, other)) == 3, "a dry run forgets nothing", rows_of(c, other))
    c.cmd(f"rubato models forget {other}", timeout=180)
    c.wait(lambda: rows_of(c, other) == [], 60, "the type to be forgotten")
    refused = c.cmd(f"rubato models forget {other}", check=False)
    check(refused.rc == 3, "exit code 3 for a type that is not known", refused.rc)

    # With slurmctld down, the command itself writes.
    c.stop_ctld()
    c.cmd(f"rubato models import {exported}", timeout=180)
    c.start_ctld()
    c.wait(lambda: len(rows_of(c, other)) == len(learn.PLACES), 60, "what was imported meanwhile")


@scenario(cluster="share", needs=["rubato"], negative="plans", timeout=300)
def a_job_hears_the_batch_that_was_chosen(c):
    """A job with a range of batches is told the one that trains fastest on the GPUs it got

    It prints RUBATO_BATCH; `rubato explain` names the batch and the model that chose it. Of a job type that was never
    measured none is chosen: the job runs with the batch of its script.
    """
    c.restart_ctld()
    kind = c.fresh_name("odd")
    says = "echo batch=${RUBATO_BATCH:-own}; sleep 2"
    first = c.sbatch(f"--gpus=a100:1 -t 5 --comment='rubato:job-type={c.fresh_name('new')};batch=64-512'", says)
    # A pass takes 10 ms plus 0.1 ms per sample: the larger the batch, the faster.
    rows = [("a100", 1, batch, batch / (0.01 + 0.0001 * batch)) for batch in (64, 128, 256, 512)]
    c.cmd(f"rubato models import {profile_file(c, 'batches.csv', kind, rows)}", timeout=180)
    c.wait(lambda: len(fitted_rows(c, kind)) == len(rows), 60, "the profile in a round")
    job = c.sbatch(f"--gpus=a100:1 -t 5 --comment='rubato:job-type={kind};batch=64-512'", says)
    c.wait(lambda: "batch=" in c.output(job), 60, "the output of the job")
    print(c.output(job))
    check("batch=512" in c.output(job), "batch=512, the best of 64-512", c.output(job))
    decision = c.wait(lambda: learn.explained(c, job), 60, "the decision in rubato explain")
    facts = json.dumps(decision)
    check("batch_given" in facts and "data-parallel" in facts, "batch and model in the decision",
          decision)
    c.cmd(f"rubato explain {job}")
    check("batch=own" in c.output(first), "no batch for the type that was never measured", c.output(first))
    check(steps.stats(c), "rounds go on", steps.stats(c))


def without_memory(c):
    """Negative control: rubato.conf lacks the memory of GPUs."""
    write = c.write_rubato_conf
    c.write_rubato_conf = lambda text, **more: write(text.replace(" Memory=40960", ""), **more)
    c.defer(lambda: vars(c).pop("write_rubato_conf", None))


@scenario(cluster="share", needs=["rubato"], negative=without_memory, timeout=420)
def no_plan_is_given_that_a_gpu_cannot_hold(c):
    """A job that can run with the whole model on every GPU, or with ZeRO, hears of the plan that fits

    16 bytes a parameter make 43 GB of 2.7e9 parameters: RUBATO_PLAN is the faster plan while nothing is said of memory,
    and ZeRO on two GPUs once Memory= says 40 GiB.
    """
    c.restart_ctld()
    kind = c.fresh_name("big")
    path = c.path("plans.csv")
    lines = ["job_type,gpu_type,gpus,nodes,plan,batch,samples,rate",
             f"{kind},a100,2,1,dp=2,32,20,50", f"{kind},a100,2,1,zero=2,32,20,40"]
    pathlib.Path(path).write_text("\n".join(lines) + "\n")
    c.cmd(f"rubato models import {path}", timeout=180)
    c.expect(lambda: len(fitted_rows(c, kind)), 2, "the profile in a round", 60)

    def plan_of_next():
        job = c.sbatch(f"--gpus=a100:2 -t 5 --comment='rubato:job-type={kind};batch=32;"
                       "model=params=2.7e9;plans=dp,zero'", "echo plan=$RUBATO_PLAN; sleep 1")
        said = c.expect(lambda: re.findall(r"plan=(\S*)", c.output(job)), bool,
                        "the output of the job", 60)
        c.say(*c.output(job).splitlines())
        return said[0]
    fastest = plan_of_next()
    check(fastest == "dp=2", "the fastest plan, dp=2, where nothing is said of memory", fastest)
    # The new speed appears when the new rubato.conf is in use, with or without the memory.
    c.write_rubato_conf(learn.CONF.replace("GpuType=a100 Speed=2",
                                           "GpuType=a100 Speed=2.5 Memory=40960"))
    c.expect(lambda: {"gpu_type": "a100", "speed": 2.5} in
             learn.published(c, "models-fit.json").get("speeds", []), True,
             "a round with the new rubato.conf", 60)
    fits = plan_of_next()
    check(fits == "zero=2", "zero=2, the plan that fits into 40 GiB", fits)


@scenario(cluster="share", needs=["rubato"], negative="forecast", timeout=300)
def explain_says_why_no_other_size_was_taken(c):
    """A job for 4 GPUs waits beside 2 free ones, though it could use 1, and explain says why

    On 1 GPU it might not end within its time limit. Once it has started, explain has the sizes that it did not take.
    """
    c.restart_ctld()
    kind = c.fresh_name("wide")
    rows = [("a100", 1, 64, 300), ("a100", 2, 64, 570), ("a100", 4, 64, 1000)]
    c.cmd(f"rubato models import {profile_file(c, 'wide.csv', kind, rows)}", timeout=180)
    c.wait(lambda: len(fitted_rows(c, kind)) == len(rows), 60, "the profile in a round")
    latch = c.latch()
    held = [c.sbatch(f"-w n{node} --gpus=a100:{gpus} -t 60", latch.wait)
            for node, gpus in ((1, 4), (2, 4), (3, 4), (4, 2))]
    for job in held:
        c.wait_state(job, "RUNNING", 40)
    job = c.sbatch(f"--gpus=a100:4 -t 60 --comment='rubato:job-type={kind};gpus=1,4;batch=64;"
                   "samples=1000000'", "sleep 600")

    def told():
        text = c.ask(f"rubato explain {job} --json 2>/dev/null", check=False)
        return (json.loads(text or "{}").get("jobs") or [{}])[0]
    waits = c.expect(told, lambda said: said.get("verdict") in ("wait", "reserve") and
                     "sizes" in said, "the sizes of the waiting job", 60)
    c.cmd(f"rubato explain {job}")
    outcomes = {size["gpus"]: size["outcome"] for size in waits["sizes"]}
    check(outcomes == {1: "time-limit", 4: "no-room"}, "why not 1 and 4", outcomes)
    check("sizes not taken: 1 (it might not end within its time limit)" in waits["reason"],
          "size 1 in the sentence", waits["reason"])
    latch.open()
    c.wait_state(job, "RUNNING", 60)
    started = c.expect(lambda: told().get("decision", {}), lambda said: "sizes" in said,
                       "the sizes in the decision of the running job", 60)
    taken = [size["gpus"] for size in started["sizes"] if size["outcome"] == "taken"]
    check(taken == [4], "4 GPUs taken", started["sizes"])
