# SPDX-License-Identifier: GPL-2.0-or-later
# librubato, a library a room: no Slurm header below lib/. A room links those before it in this order, which
# test/support/rooms_test.py holds: base < hints < config, core < model < json < policy < store < runtime < replay <
# validate < sim. Headers are listed too, for the distribution.
include $(top_srcdir)/lib/base/local.mk
include $(top_srcdir)/lib/hints/local.mk
include $(top_srcdir)/lib/config/local.mk
include $(top_srcdir)/lib/core/local.mk
include $(top_srcdir)/lib/model/local.mk
include $(top_srcdir)/lib/json/local.mk
include $(top_srcdir)/lib/policy/local.mk
include $(top_srcdir)/lib/store/local.mk
include $(top_srcdir)/lib/runtime/local.mk
include $(top_srcdir)/lib/replay/local.mk
include $(top_srcdir)/lib/validate/local.mk
include $(top_srcdir)/lib/sim/local.mk

# What a program or plugin links that uses a room: the room and those below it.
LIB_HINTS = lib/librubato_hints.la lib/librubato_base.la
# The log stands apart from lib/base/: it needs spdlog, which no other file of the lower rooms uses.
LIB_LOG = lib/librubato_log.la
LIB_CORE = lib/librubato_core.la lib/librubato_config.la $(LIB_HINTS)
LIB_MODEL = lib/librubato_model.la $(LIB_CORE) $(LIB_LOG)
LIB_JSON = lib/librubato_json.la $(LIB_MODEL)
LIB_POLICY = lib/librubato_policy.la $(LIB_JSON)
LIB_STORE = lib/librubato_store.la $(LIB_POLICY)
LIB_RUNTIME = lib/librubato_runtime.la $(LIB_STORE)
LIB_ALL = lib/librubato_sim.la lib/librubato_validate.la lib/librubato_replay.la $(LIB_RUNTIME)
