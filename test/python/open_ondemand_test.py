# SPDX-License-Identifier: GPL-2.0-or-later
"""The app of contrib/openondemand: fields of its form become options of sbatch."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import unittest

ROOT = pathlib.Path(os.environ["RUBATO_SOURCE_DIR"])
BUILD = pathlib.Path(os.environ["RUBATO_BUILD_DIR"])
APP = ROOT / "contrib/openondemand"


@unittest.skipUnless(shutil.which("ruby"), "ruby is not installed")
class OpenOnDemand(unittest.TestCase):
    def rendered(self, **values):
        done = subprocess.run(["ruby", str(ROOT / "test/python/open_ondemand.rb"), str(APP)], input=json.dumps(values),
                              capture_output=True, text=True, check=False, timeout=60)
        self.assertEqual(0, done.returncode, done.stderr)
        return json.loads(done.stdout)

    def native(self, **values):
        return self.rendered(**values)["submit"]["script"]["native"]

    def test_fields_left_empty_give_no_option(self):
        self.assertEqual(["--gpus=1"], self.native())
        self.assertEqual(["--gpus=2"], self.native(gpus="2", dl_job_type="  ", dl_samples=""))

    def test_each_field_of_a_hint_is_an_option_in_the_order_of_the_form(self):
        self.assertEqual(
            ["--gpus=4", "--dl-job-type=resnet50", "--dl-gpus=1,2,4,8", "--dl-gpu-types=h100/a100",
             "--dl-samples=1.28e8", "--dl-checkpoint=USR1@60", "--dl-resize=restart", "--requeue"],
            self.native(gpus="4", dl_resize="restart", dl_job_type=" resnet50 ", dl_gpus="1,2,4,8",
                        dl_gpu_types="h100/a100", dl_samples="1.28e8", dl_checkpoint="USR1@60"))

    def test_text_of_the_user_stays_in_its_option(self):
        for text in ('a: b', '"]\nwrap: "x', "it's #{1 + 1} \\ & <b>", "- x", "é"):
            self.assertEqual(["--gpus=1", f"--dl-job-type={text}"], self.native(dl_job_type=text))
            script = self.rendered(folder=text)["script"]
            said = subprocess.run(["bash", "-c", script.replace("\ncd ", "\nprintf %s ").replace("exec srun", ":")],
                                  capture_output=True, text=True, check=True).stdout
            self.assertEqual(text, said)

    def test_the_form_names_hints_only_and_values_that_they_can_have(self):
        form = self.rendered()["form"]
        hints = re.findall(r"^--dl-([a-z-]+)", subprocess.run([str(BUILD / "bin/rubato"), "hints"], capture_output=True,
                                                         text=True, check=True).stdout, re.MULTILINE)
        fields = [name[3:].replace("_", "-") for name in form["form"] if name.startswith("dl_")]
        self.assertGreater(len(fields), 4)
        self.assertEqual(set(), set(fields) - set(hints))
        self.assertEqual(set(), set(form["attributes"]) - set(form["form"]))
        checked = 0
        for name, attribute in form["attributes"].items():
            for _, value in attribute.get("options", ()):
                if value:
                    hint = f"{name[3:].replace('_', '-')}={value}"
                    done = subprocess.run([str(BUILD / "bin/rubato"), "hints", "--check", hint], capture_output=True,
                                          text=True, check=False)
                    self.assertEqual(0, done.returncode, f"{hint}: {done.stdout}{done.stderr}")
                    checked += 1
        self.assertGreater(checked, 2)


if __name__ == "__main__":
    unittest.main()
