# SPDX-License-Identifier: GPL-2.0-or-later
# The Python client and the trainer of contrib/.
PYTHON_TESTS = test/python/client_test.py test/python/compare_test.py test/python/compare_workload_test.py \
  test/python/open_ondemand_test.py test/python/torchrun_test.py test/python/tracking_test.py \
  test/python/trainer_test.py
EXTRA_DIST += $(PYTHON_TESTS)
TESTS += $(PYTHON_TESTS)
# Read by test/cluster/scenarios/submitit.py and open_ondemand.py.
EXTRA_DIST += test/python/submitit_interface.py test/python/open_ondemand.rb
