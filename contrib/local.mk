# SPDX-License-Identifier: GPL-2.0-or-later
EXTRA_DIST += contrib/check-releases contrib/debian-root contrib/quickstart

# Debian packages and RPMs: `contrib/quickstart package`. test/packages installs, uses and removes them.
EXTRA_DIST += contrib/packaging test/packages

# These keep their places beside each other: the trainer and rubato-torchrun import the client.
rubatopythondir = $(pkgdatadir)/python
dist_rubatopython_DATA = contrib/python/rubato.py
rubatotrainerdir = $(pkgdatadir)/trainer
dist_rubatotrainer_SCRIPTS = contrib/trainer/rubato-trainer
rubatotorchrundir = $(pkgdatadir)/torchrun
dist_rubatotorchrun_SCRIPTS = contrib/torchrun/rubato-torchrun
rubatoelasticdir = $(pkgdatadir)/elastic
dist_rubatoelastic_SCRIPTS = contrib/elastic/discover-hosts
EXTRA_DIST += contrib/elastic/README.md contrib/openondemand/README.md contrib/python/README.md \
  contrib/submitit/README.md contrib/torchrun/README.md contrib/tracking/README.md contrib/trainer/README.md

# An app of Open OnDemand, to copy.
openondemanddir = $(pkgdatadir)/openondemand
dist_openondemand_DATA = contrib/openondemand/form.yml contrib/openondemand/manifest.yml \
  contrib/openondemand/submit.yml.erb
openondemandtemplatedir = $(openondemanddir)/template
dist_openondemandtemplate_DATA = contrib/openondemand/template/script.sh.erb

# Alerts, the timer of the textfile collector, and a dashboard.
monitoringdir = $(pkgdatadir)/monitoring
dist_monitoring_DATA = contrib/grafana/rubato.json contrib/prometheus/rubato.rules.yml \
  contrib/prometheus/rubato-metrics.service contrib/prometheus/rubato-metrics.timer
