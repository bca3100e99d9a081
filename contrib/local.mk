# SPDX-License-Identifier: GPL-2.0-or-later
EXTRA_DIST += contrib/quickstart

bashcompletiondir = $(datadir)/bash-completion/completions
dist_bashcompletion_DATA = contrib/completion/bash/rubato
