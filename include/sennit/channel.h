/* SPDX-License-Identifier: BSD-3-Clause */
/* Channels: two ranks of a node hand buffers to each other without a copy.
 *
 * Each side has a buffer, and gets a plain pointer to the other's. A hand-over is four calls that
 * move no data and make no system call: the writer asks whether it may write, writes, and says so;
 * the reader asks whether there is a message, reads it, and says so. Either side writes in its own
 * direction, independent of the other.
 *
 *     writer                                        reader
 *     sennit_channel_wait_write(channel, ...)       sennit_channel_wait_read(channel, ...)
 *     ... store through peers[i] ...                ... load from its own buffer ...
 *     sennit_channel_have_written(channel)          sennit_channel_have_read(channel)
 *
 * The same calls serve where data stays in the writer's buffer and the reader loads it through
 * peers[i]: the memory is one, whoever owns it. Who wrote what when is kept apart by the counters
 * alone: what was stored before have_written is seen after can_read or wait_read said yes, and
 * what was loaded before have_read is over when can_write or wait_write says yes.
 *
 * One channel serves both directions. In a ring of two ranks the next one and the one before are
 * the same rank: open one channel with it and use it both ways, or name it twice on both sides,
 * where the first channel of one rank meets the first of the other.
 *
 * Two threads of a rank may use the two directions of a channel at the same time, and different
 * channels in any way; the calls for one direction of one channel are for the program to order. */
#ifndef SENNIT_CHANNEL_H
#define SENNIT_CHANNEL_H

#include <sennit/team.h>

#ifdef __cplusplus
extern "C" {
#endif

/* This rank's end of a channel: a handle by value, which may be copied. {0} is no channel, and a
 * handle is always less than 2^31. */
typedef struct sennit_channel {
    uint32_t handle;
} sennit_channel;

#ifdef __cplusplus
#define SENNIT_CHANNEL_NULL (sennit_channel{0u})
#else
#define SENNIT_CHANNEL_NULL ((sennit_channel){0u})
#endif

/* Allow a copy where this rank can not load and store in the peer's buffer (sennit_register says
 * which memory that is): peers[i] is then memory of this rank, as long as the peer's buffer, and
 * the whole of it is copied at each hand-over. Without the flag that is an error. A peer on another
 * node is an error either way. */
#define SENNIT_CHANNEL_MIRROR 0x1u
/* The direction of such a copy. Without the flag have_written copies into the peer's buffer, as
 * when the writer stores through peers[i]; with it can_read or wait_read copies from there, as when
 * the reader loads through peers[i]. Where nothing is copied the flag changes nothing. */
#define SENNIT_CHANNEL_PULL 0x2u
/* Neither direction may be written at first: its reader calls sennit_channel_have_read once, before
 * any message, to say that it is done with whatever used its buffer before the channel. What it did
 * before that call is over when can_write or wait_write says yes to the peer. Until then the
 * peer's can_write says no, its wait_write waits, its have_written is refused with STATE. A rank
 * that reads nothing need not call it. Without the flag a new channel may be written at once. */
#define SENNIT_CHANNEL_NOT_READY 0x4u
/* The flag SENNIT_CHANNEL_AHEAD(messages): so many messages of each direction may be unread at
 * once, 1 (as without it) to SENNIT_CHANNEL_AHEAD_MOST. The writer may be ahead of the reader by as
 * many, and neither looks at what the other has counted while it knows enough. Which part of the
 * buffer belongs to which message is for the program to say: with parts used in turn, as many as
 * messages, a part is the writer's again when can_write says so, and the reader's from can_read to
 * have_read. Not with SENNIT_CHANNEL_MIRROR. */
#define SENNIT_CHANNEL_AHEAD(messages) ((unsigned)(messages) << 8)
#define SENNIT_CHANNEL_AHEAD_MOST 128

/* With whom channels are opened, and this rank's buffer for each. */
typedef struct sennit_channel_ends {
    size_t count;
    const int *targets; /* [count], ranks in the team; the caller's own, and one twice, are legal */
    void *const *buffers; /* [count], memory that this rank may write, of any kind and alignment */
    const size_t *bytes;  /* [count], 0 is legal: the channel is then a flag */
} sennit_channel_ends;

/* Open a channel with each target, and wait until each target has opened one with this rank, for at
 * most timeout_ns (SENNIT_FOREVER: without end). Not collective: the k-th channel that rank A opens
 * with B meets the k-th that B opens with A. All targets of a call are met at once, so the order of
 * targets does not matter, except of one target that is named twice: its channels are opened one
 * after the other. The two buffers of a channel may have different sizes; the flags of both sides
 * must be equal. Each direction of a channel to the caller itself leads back to the caller.
 * peers[i] gets the peer's buffer as this rank reaches it, NULL if that has no bytes; peers may be
 * NULL. The buffers are registered with Sennit until the channel is closed, and may overlap.
 * On an error nothing of this call is open here; a target that had met this rank already finds the
 * channel closed. A target that was not there in time meets this rank's next attempt.
 * Errors: STATE, ARG (team, null, flags, a negative timeout, flags that differ), RANGE (a target),
 * TIMEOUT (the error's peer is the first that did not come), PEER_LOST, OTHER_NODE, UNSUPPORTED (no
 * load and store to the peer's buffer, or its to this one's: sennit_last_error tells which), NOMEM
 * (memory, 16383 channels of a rank), OS, and those of sennit_register. */
sennit_status sennit_channel_open(sennit_team team, const sennit_channel_ends *ends, unsigned flags,
                                  int64_t timeout_ns, void *peers[], sennit_channel channels[]);

/* Close `count` channels: wait, for at most timeout_ns, until the peer of each has read what this
 * rank wrote, or closes too, or has closed, or is gone. It never waits for the peer to close, so
 * both sides close in any order. After TIMEOUT all of them are open as before, and the call may be
 * made again; a peer that closed meanwhile did not wait for this rank to read its last message.
 * No other thread is in a call on these channels. A peer that may write (can_write has said so) may
 * still do so afterwards until it notices: memory that it writes by its own pointers should not be
 * freed before the program knows that it has stopped.
 * Errors: STATE, ARG (null, a negative timeout, no open channel, one named twice), TIMEOUT. */
sennit_status sennit_channel_close(const sennit_channel channels[], size_t count,
                                   int64_t timeout_ns);

/* *can is 1 if the peer has read all that this rank wrote (with SENNIT_CHANNEL_AHEAD: fewer
 * messages than may be are unread; with SENNIT_CHANNEL_NOT_READY: and has said that it is ready),
 * so that it may write, else 0. Never waits. Errors: ARG (null, no open channel), STATE (the peer
 * has closed), PEER_LOST (the peer is gone; noticed some milliseconds after it happened, by tests
 * that find nothing). */
sennit_status sennit_channel_can_write(sennit_channel channel, int *can);

/* Hand what was written to the peer. Never waits for it. Errors: ARG (no open channel), STATE (the
 * peer has not read the last message, or as many as may be unread, or is not ready, or has closed;
 * nothing is changed), and where a mirror is copied PEER_LOST, NOT_REGISTERED, OS. */
sennit_status sennit_channel_have_written(sennit_channel channel);

/* *can is 1 if there is a message of the peer that this rank has not read, else 0. Never waits.
 * Errors: ARG, STATE (the peer has closed, and all that it wrote was read), PEER_LOST (as above,
 * and all was read), and where a mirror is copied NOT_REGISTERED, OS. */
sennit_status sennit_channel_can_read(sennit_channel channel, int *can);

/* Say that the message was read, the oldest that was not: its buffer is the peer's to write again.
 * The first call for a channel with SENNIT_CHANNEL_NOT_READY says that this rank is ready, and
 * gives the peer the whole buffer. Errors: ARG (no open channel), STATE (there was no message, or
 * the peer has closed; nothing is changed). */
sennit_status sennit_channel_have_read(sennit_channel channel);

/* Wait until can_write or can_read would say yes, for at most timeout_ns. Errors: as those, and ARG
 * (a negative timeout), TIMEOUT. */
sennit_status sennit_channel_wait_write(sennit_channel channel, int64_t timeout_ns);
sennit_status sennit_channel_wait_read(sennit_channel channel, int64_t timeout_ns);

/* Wait until there are at least `least` messages of the peer that this rank has not read. *messages
 * gets how many there are: all may be read, and each is given back by a have_read of its own.
 * Errors: as wait_read, but STATE and PEER_LOST also where there are fewer and the peer closes or
 * is gone; ARG (null, least is 0 or more than may be unread at once). */
sennit_status sennit_channel_wait_messages(sennit_channel channel, uint32_t least,
                                           int64_t timeout_ns, uint32_t *messages);

/* What this rank knows of a channel. */
typedef struct sennit_channel_info {
    int peer;          /* world rank */
    int is_mirror;     /* 1: peer_buffer is a copy (SENNIT_CHANNEL_MIRROR) */
    void *peer_buffer; /* as in peers[i] */
    size_t peer_bytes; /* size of the peer's buffer */
    uint64_t written;  /* messages that this rank wrote */
    uint64_t read;     /* messages that this rank read */
} sennit_channel_info;

/* Errors: STATE, ARG (null, no open channel). */
sennit_status sennit_channel_query(sennit_channel channel, sennit_channel_info *info);

#ifdef __cplusplus
}
#endif

#endif
