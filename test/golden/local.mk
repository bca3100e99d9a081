# SPDX-License-Identifier: GPL-2.0-or-later
# unittest files (*_test.py) that run the built program and compare its output with a kept file.
GOLDEN_TESTS = \
  test/golden/commands_test.py \
  test/golden/completion_test.py \
  test/golden/links_test.py \
  test/golden/man_examples_test.py \
  test/golden/man_test.py \
  test/golden/metrics_test.py \
  test/golden/monitoring_test.py \
  test/golden/outputs_test.py \
  test/golden/page_test.py \
  test/golden/replay_test.py \
  test/golden/schema_test.py \
  test/golden/shells_test.py \
  test/golden/simulate_cut_test.py \
  test/golden/full_table_test.py \
  test/golden/simulate_history_test.py \
  test/golden/simulate_page_test.py \
  test/golden/validate_test.py
TESTS += $(GOLDEN_TESTS)
EXTRA_DIST += $(GOLDEN_TESTS) test/golden/golden.py test/golden/json_schema.py \
  test/golden/record_squeue test/golden/run_golden \
  test/golden/bases test/golden/cases

# Needs chromium: `make check-pages`.
EXTRA_DIST += test/golden/pages_in_browser_test.py

# Read by test/unit/config/golden_test.cc and hints_golden_test.cc.
EXTRA_DIST += test/golden/config.d test/golden/hints.d
