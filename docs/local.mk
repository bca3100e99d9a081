# SPDX-License-Identifier: GPL-2.0-or-later

# The commands. test/golden/man_test.py runs their examples.
dist_man_MANS += \
  docs/man/rqueue.1 \
  docs/man/rubato.1 \
  docs/man/rubato-doctor.1 \
  docs/man/rubato-explain.1 \
  docs/man/rubato-hints.1 \
  docs/man/rubato-hold-size.1 \
  docs/man/rubato-metrics.1 \
  docs/man/rubato-models.1 \
  docs/man/rubato-page.1 \
  docs/man/rubato-pause.1 \
  docs/man/rubato-rehearse.1 \
  docs/man/rubato-report.1 \
  docs/man/rubato-resize.1 \
  docs/man/rubato-simulate.1 \
  docs/man/rubato-snapshot.1 \
  docs/man/rubato-stats.1 \
  docs/man/rubato-validate.1 \
  docs/man/rubato-wait-resize.1 \
  docs/man/rubato-whatif.1

# rubato.conf: man page and example are written by `make config-docs`.
dist_man_MANS += docs/man/rubato.conf.5 docs/man/rubato-files.5 docs/man/rubato_plugins.8
dist_doc_DATA += configs/rubato.conf.example
EXTRA_DIST += docs/design docs/glossary.md docs/results

# Hints of jobs: written by `make hints-docs`.
dist_man_MANS += docs/man/rubato-hints.7 docs/man/rubato-spank.8

# Worked examples of rubato-simulate(1); test/golden/man_test.py runs them.
examplesdir = $(docdir)/examples
dist_examples_DATA = docs/examples/README.md docs/examples/day.csv docs/examples/history.txt \
  docs/examples/speeds.csv

# A job to copy; test/cluster/scenarios/example.py runs it.
ddpdir = $(docdir)/examples/ddp
dist_ddp_DATA = docs/examples/ddp/README.md docs/examples/ddp/job.sh docs/examples/ddp/train.py

# Guides, and the pictures that they and README.md show; test/golden/links_test.py checks their links.
guidedir = $(docdir)/guide
dist_guide_DATA = docs/guide/admin-guide.md docs/guide/faq.md docs/guide/getting-started.md \
  docs/guide/installation.md docs/guide/simulation.md docs/guide/troubleshooting.md docs/guide/user-guide.md
imagesdir = $(docdir)/images
dist_images_DATA = docs/images/architecture.svg docs/images/compare.svg
