/* SPDX-License-Identifier: BSD-3-Clause */
/* Sennit: one-sided communication. This header includes all others but the header-only ones for
 * MPI, UNR and ZCom; error.h has the conventions. */
#ifndef SENNIT_SENNIT_H
#define SENNIT_SENNIT_H

#include <sennit/atomic.h>
#include <sennit/channel.h>
#include <sennit/coll.h>
#include <sennit/domain.h>
#include <sennit/error.h>
#include <sennit/group.h>
#include <sennit/info.h>
#include <sennit/lock.h>
#include <sennit/memory.h>
#include <sennit/notify.h>
#include <sennit/plan.h>
#include <sennit/queue.h>
#include <sennit/rma.h>
#include <sennit/runtime.h>
#include <sennit/signal.h>
#include <sennit/team.h>
#include <sennit/type.h>
#include <sennit/version.h>

#endif
