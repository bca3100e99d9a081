#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""test/cluster/compare: the workload, its file, the two slurm.conf."""
import csv
import json
import os
import pathlib
import re
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
SOURCE = pathlib.Path(os.environ["RUBATO_SOURCE_DIR"])
sys.path.insert(0, str(SOURCE / "test"))
from cluster import slurmconf  # noqa: E402
from cluster.compare import simulation, site, workload, workload_file  # noqa: E402

TYPES = list(workload.NODES)


class Workloads(unittest.TestCase):
    def setUp(self):
        self.loads = [workload.generate(seed, 60) for seed in range(1, 9)]

    def test_a_seed_always_gives_the_same(self):
        self.assertEqual(workload.generate(7, 60), workload.generate(7, 60))
        self.assertNotEqual(workload.generate(7, 60), workload.generate(8, 60))

    def test_there_are_three_classes(self):
        for load in self.loads:
            counts = {kind: sum(job.kind == kind for job in load.jobs) for kind in workload.CLASSES}
            self.assertEqual(counts, {"hinted": 40, "unhinted_gpu": 10, "cpu": 10})
        self.assertEqual(len(workload.generate(1, 6).jobs), 6)
        self.assertEqual({job.kind for job in workload.generate(1, 6).jobs}, set(workload.CLASSES))

    def test_half_of_the_hinted_jobs_are_best_on_a_type_that_is_not_the_fastest(self):
        for load in self.loads:
            fastest = max(load.speeds, key=load.speeds.get)
            best = [job.best_type() for job in load.jobs if job.kind == "hinted"]
            self.assertEqual(sum(t != fastest for t in best), len(best) // 2)
            self.assertGreaterEqual(len({j.job_type for j in load.jobs if j.job_type}), 4)

    def test_time_limits_are_one_and_a_half_times_what_the_job_can_take(self):
        for load in self.loads:
            for job in load.jobs:
                longest = max(job.true_seconds(t) for t in TYPES)
                self.assertGreaterEqual(60 * job.limit, 1.5 * longest)
                self.assertLess(60 * job.limit, 1.5 * longest + 60)

    def test_each_seed_offers_the_same_load(self):
        for load in self.loads:
            arriving = sum(job.gpu_seconds() for job in load.jobs)
            window = load.jobs[-1].submit
            self.assertAlmostEqual(arriving / window / workload.GPUS, workload.LOAD, 2)
            times = [job.submit for job in load.jobs]
            self.assertEqual(times, sorted(times))

    def test_a_faster_type_makes_unhinted_jobs_faster(self):
        for load in self.loads:
            for job in load.jobs:
                if job.kind == "unhinted_gpu":
                    self.assertEqual(job.best_type(), max(load.speeds, key=load.speeds.get))

    def test_jobs_of_mode_elastic_are_longer_and_two_thirds_may_change(self):
        for seed in range(1, 9):
            plain, elastic = workload.generate(seed, 72), workload.generate(seed, 72, elastic=True)
            self.assertEqual(elastic, workload.generate(seed, 72, elastic=True))
            ways = [job.resize for job in elastic.jobs]
            self.assertEqual([ways.count(way) for way in ("restart", "live", "both", "")],
                             [16, 16, 16, 24])
            self.assertAlmostEqual(elastic.jobs[-1].submit, 3 * plain.jobs[-1].submit, delta=0.3)
            for job, other in zip(elastic.jobs, plain.jobs):
                self.assertEqual(bool(job.resize), job.kind == "hinted")
                self.assertEqual((job.kind, job.gpus, job.cpus, job.job_type),
                                 (other.kind, other.gpus, other.cpus, other.job_type))
                if job.resize in ("live", "both"):  # Rubato refuses resize=live with one size
                    self.assertIn(job.gpus, job.sizes)
                    self.assertNotIn(job.job_type, workload.ONE_GPU)
                else:
                    self.assertEqual(job.sizes, other.sizes)
                kind = "v100" if job.gpus else "cpu"
                self.assertAlmostEqual(job.true_seconds(kind) / other.true_seconds(kind), 3, 2)
            mean = sum(workload.mean(job.true_seconds(t) for t in TYPES) for job in elastic.jobs
                       if job.resize) / 48
            self.assertGreater(workload.START_SECONDS + workload.SAVE_SECONDS, 0.02 * mean)

    def test_sizes(self):
        sizes = {job.gpus for load in self.loads for job in load.jobs}
        self.assertEqual(sizes, {0, 1, 2, 4, 8})
        for load in self.loads:
            for job in load.jobs:
                self.assertTrue(not job.sizes or job.gpus in job.sizes, job)


class Files(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.load = workload.generate(3, 12)

    def test_what_was_written_is_read_again(self):
        path = self.folder / "w.json"
        workload_file.write(self.load, path)
        self.assertEqual(workload_file.read(path), self.load)
        self.assertEqual(list(self.folder.iterdir()), [path])
        elastic = workload.generate(3, 12, elastic=True)
        workload_file.write(elastic, path)
        self.assertEqual(workload_file.read(path), elastic)

    def wrong(self, change):
        document = json.loads(json.dumps(workload_file.to_json(self.load)))
        change(document)
        with self.assertRaises(workload_file.WorkloadError) as caught:
            workload_file.from_json(document, "w.json")
        return str(caught.exception)

    def first(self, document, kind):
        return next(job for job in document["jobs"] if job["class"] == kind)

    def test_errors_name_the_place_and_the_nearest_word(self):
        cases = {
            "unknown key 'job'; did you mean 'jobs'?": lambda d: d.update(job=d.pop("jobs")),
            "w.json: 'speeds' is missing": lambda d: d.pop("speeds"),
            "schema is 'rubato.workload/2'; 'rubato.workload/1' is wanted":
                lambda d: d.update(schema="rubato.workload/2"),
            "w.json: job 1 (j001): unknown class \"hintet\"; did you mean 'hinted'?":
                lambda d: d["jobs"][0].update({"class": "hintet"}),
            "unknown key 'gpu'; did you mean 'gpus'?":
                lambda d: self.first(d, "hinted").update(gpu=1),
            "unknown resize 'life'; did you mean 'live'?":
                lambda d: self.first(d, "hinted").update(resize="life"),
            "'samples' is missing": lambda d: self.first(d, "hinted").pop("samples"),
            "unknown job type 'transformers'; did you mean 'transformer'?":
                lambda d: self.first(d, "hinted").update(job_type="transformers"),
            "seconds: unknown GPU type 'v10'; did you mean 'v100'?":
                lambda d: self.first(d, "unhinted_gpu")["seconds"].update(v10=1),
            "seconds.k80 is 0; it must be above 0":
                lambda d: self.first(d, "unhinted_gpu")["seconds"].update(k80=0),
            "cpus is 65; at most 64": lambda d: self.first(d, "cpu").update(cpus=65),
            "seconds is \"1\"; a number is wanted":
                lambda d: self.first(d, "cpu").update(seconds="1"),
            "limit is true; a whole number is wanted": lambda d: d["jobs"][0].update(limit=True),
            "submit is -1; it must not be below 0": lambda d: d["jobs"][0].update(submit=-1),
            "an earlier job has this name": lambda d: d["jobs"][1].update(name="j001"),
            "a name is letters, digits": lambda d: d["jobs"][0].update(name="a b"),
            "0 jobs; 1 to": lambda d: d["jobs"].clear(),
            "the cluster of a comparison has": lambda d: d.update(time_scale=1),
            "job 1: an object is wanted": lambda d: d["jobs"].insert(0, 7),
        }
        cases["gpus is 5; above 4 only whole nodes of 4 are possible"] = (
            lambda d: self.first(d, "hinted").update(gpus=5, sizes=[]))
        cases["gpus is 16; at most 8"] = lambda d: self.first(d, "hinted").update(gpus=16)
        cases["sizes [1, 4] lack 2, which the job asks for"] = (
            lambda d: self.first(d, "hinted").update(gpus=2, sizes=[4, 1]))
        cases["8 is more than a node has"] = (
            lambda d: self.first(d, "hinted").update(gpus=2, sizes=[2, 8]))
        for words, change in cases.items():
            with self.subTest(words):
                self.assertIn(words, self.wrong(change))

    def test_what_is_no_json(self):
        path = self.folder / "w.json"
        path.write_text("{\n nope\n}", encoding="utf-8")
        with self.assertRaisesRegex(workload_file.WorkloadError, "w.json: line 2: "):
            workload_file.read(path)
        with self.assertRaisesRegex(workload_file.WorkloadError, "none.json: No such file"):
            workload_file.read(self.folder / "none.json")


class Site(unittest.TestCase):
    def setUp(self):
        self.speeds = {"v100": 1.25, "p100": 1.4, "k80": 0.5}

    def conf(self, flavour):
        shape = site.shape(self.speeds)
        facts = slurmconf.Site(
            base="/b", user="u", host="h", addr="127.0.0.1", ctld_port=1, dbd_port=2, node_port=3,
            version=(22, 5, 8), plugin_dir="/r:/s" if flavour == "rubato" else "/s",
            job_submit="logging" if flavour == "rubato" else "")
        return slurmconf.render(shape, facts)["slurm.conf"].splitlines()

    def test_one_slurm_conf_that_differs_in_the_lines_of_rubato(self):
        stock, rubato = self.conf("stock"), self.conf("rubato")
        self.assertEqual(set(stock) - set(rubato), {"PluginDir=/s"})
        self.assertEqual(set(rubato) - set(stock), {"PluginDir=/r:/s", "JobSubmitPlugins=logging"})
        self.assertIn(f"SchedulerParameters={site.STOCK_PARAMS}", stock)
        self.assertIn("cred_expire=5", "".join(stock))

    def test_the_fastest_type_has_the_lowest_weight(self):
        weights = {m[1]: int(m[2]) for m in re.finditer(r"NodeName=(\w)\S* .*Weight=(\d+)",
                                                        "\n".join(self.conf("stock")))}
        self.assertEqual(sorted(weights, key=weights.get), ["p", "v", "k"])

    def test_an_inverted_prior_has_the_types_in_the_opposite_order(self):
        wrong = site.configured_speeds(self.speeds, "inverted")
        self.assertEqual(sorted(wrong, key=wrong.get), ["p100", "v100", "k80"])
        self.assertEqual(sorted(wrong.values()), sorted(self.speeds.values()))
        self.assertIn("GpuType=k80 Speed=1.4", site.rubato_conf(self.speeds, prior="inverted"))
        self.assertIn("GpuType=k80 Speed=0.5", site.rubato_conf(self.speeds))

    def test_what_a_job_is_told_names_rubato_in_its_comment_only(self):
        for job in workload.generate(2, 60).jobs:
            words = re.sub(r"--comment=\S+", "", site.options(job))
            self.assertNotIn("rubato", words)
            self.assertNotIn("dl-", words)
            if job.kind == "hinted":
                self.assertIn(f"job-type={job.job_type}", site.options(job))
                self.assertEqual(f"samples={job.samples}" in site.options(job), job.tells_samples)
            else:
                self.assertNotIn("--comment", site.options(job))

    def test_a_job_says_how_it_may_change(self):
        words = {"": ("", ""), "restart": ("checkpoint=B:USR1@2;resize=restart", ""),
                 "live": ("resize=live", "--follow-size 1"),
                 "both": ("checkpoint=B:USR1@2;resize=live", "--follow-size 1")}
        for way, (hint, follows) in words.items():
            job = workload.Job("j", "hinted", 0, 1, 2, job_type="lm", samples=9, resize=way)
            self.assertEqual(site.hints(job), ";".join(filter(None, ["rubato:job-type=lm", hint])))
            self.assertIn(follows, site.script(job, 1))
            self.assertEqual("--follow-size" in site.script(job, 1), bool(follows))
            self.assertEqual("--start-seconds 0.8 --checkpoint-seconds 0.2" in site.script(job, 1),
                             bool(way))

    def test_mode_elastic_names_its_restart_cost(self):
        self.assertIn("RestartCost=3\nResizeCost=1\n", site.rubato_conf(self.speeds, "elastic"))
        self.assertNotIn("Cost", site.rubato_conf(self.speeds))

    def test_an_unhinted_job_on_several_types_runs_as_on_the_slowest(self):
        job = workload.Job("j", "unhinted_gpu", 0, 1, 8, seconds={"v100": 1, "p100": 2, "k80": 3})
        text = site.script(job, 1)
        self.assertLess(text.index("*k*) exec sleep 3"), text.index("*p*) exec sleep 2"))
        self.assertLess(text.index("*p*) exec sleep 2"), text.index("*v*) exec sleep 1"))



class Simulations(unittest.TestCase):
    """The files for `rubato simulate` hold the same jobs."""

    def setUp(self):
        made = tempfile.TemporaryDirectory()
        self.addCleanup(made.cleanup)
        self.folder = pathlib.Path(made.name)
        self.load = workload.generate(4, 36, elastic=True)
        self.options = simulation.write(self.load, self.folder)

    def rows(self, name):
        with open(self.folder / name, encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))

    def test_each_gpu_job_runs_as_long_as_live(self):
        speeds = {(row["model"], row["gpu_type"], int(row["gpus"])): float(row["rate"])
                  for row in self.rows("speeds.csv")}
        rows = self.rows("jobs.csv")
        jobs = [job for job in self.load.jobs if job.gpus]
        self.assertEqual([row["job"] for row in rows], [job.name for job in jobs])
        for row, job in zip(rows, jobs):
            for gpu_type in TYPES:
                seconds = float(row["work"]) / speeds[row["model"], gpu_type, job.gpus]
                self.assertAlmostEqual(seconds / job.true_seconds(gpu_type), 1, 6)

    def test_a_job_may_change_as_its_hints_say(self):
        ways = {"restart": ("", "1"), "live": ("0", "0"), "both": ("0", "1"), "": ("", "0")}
        for row, job in zip(self.rows("jobs.csv"), (job for job in self.load.jobs if job.gpus)):
            self.assertEqual((row["resize_s"], row["restarts"]), ways[job.resize], job.name)
            self.assertEqual(row["hints"], str(int(job.kind == "hinted")))
            self.assertEqual(row["predictable"], str(int(job.tells_samples)))
            sizes = {int(size) for size in row["sizes"].split("/") if size}
            self.assertEqual(sizes, {*job.sizes, job.gpus} if job.sizes else set())

    def test_the_simulator_plays_them(self):
        program = os.path.join(os.environ["RUBATO_BUILD_DIR"], "bin", "rubato")
        means = simulation.mean_times(self.load, self.folder, program)
        self.assertEqual(list(means), ["stock", "place", "elastic"])
        least = sum(min(job.true_seconds(t) for t in TYPES) for job in self.load.jobs if job.gpus)
        for mean in means.values():
            self.assertGreater(mean, .25 * least / len(self.rows("jobs.csv")))
        again = simulation.mean_times(self.load, self.folder / "again", program)
        self.assertEqual(again, means)


if __name__ == "__main__":
    unittest.main()
