/* SPDX-License-Identifier: BSD-3-Clause */
/* Channels: two ranks of a node hand buffers to each other without a copy (after ZCom, Imhoff
 * 2024).
 *
 * Each side has a buffer and gets a plain pointer to the other's. A hand-over is four calls that
 * move no data and make no system call. The two directions are independent.
 *
 *     writer                                        reader
 *     sennit_channel_wait_write(channel, ...)       sennit_channel_wait_read(channel, ...)
 *     ... store through peers[i] ...                ... load from its own buffer ...
 *     sennit_channel_have_written(channel)          sennit_channel_have_read(channel)
 *
 * The data may also stay in the writer's buffer, and the reader loads it through peers[i]. Stores
 * before have_written are visible when can_read or wait_read of the reader has succeeded. Loads
 * before have_read are over when can_write or wait_write of the writer has succeeded.
 *
 * Threads may use different channels, or the two directions of one, at the same time. One direction
 * has one thread at a time. */
#ifndef SENNIT_CHANNEL_H
#define SENNIT_CHANNEL_H

#include <sennit/team.h>

#ifdef __cplusplus
extern "C" {
#endif

/* This rank's end of a channel: a handle below 2^31. */
typedef struct sennit_channel {
    uint32_t handle;
} sennit_channel;

#ifdef __cplusplus
#define SENNIT_CHANNEL_NULL (sennit_channel{0u})
#else
#define SENNIT_CHANNEL_NULL ((sennit_channel){0u})
#endif

/* Allow a copy where this rank cannot load and store in the peer's buffer (see sennit_register).
 * Then peers[i] is memory of this rank, and each hand-over copies the whole buffer. Without the
 * flag such a peer is an error; a peer on another node is always one. */
#define SENNIT_CHANNEL_MIRROR 0x1u
/* With SENNIT_CHANNEL_MIRROR: can_read or wait_read copies the peer's buffer to peers[i], for
 * readers that load through peers[i]. Without this flag have_written copies peers[i] to the peer's
 * buffer, for writers that store through peers[i]. */
#define SENNIT_CHANNEL_PULL 0x2u
/* A direction of the new channel becomes writable only when its reader frees its buffer by
 * sennit_channel_have_read, before any message. Until then can_write of the peer gives 0,
 * wait_write waits and have_written returns STATE. When can_write gives 1, everything that the
 * reader did before its have_read is over. Without the flag a new channel is writable at once. */
#define SENNIT_CHANNEL_NOT_READY 0x4u
/* Up to `messages` messages of each direction may be unread, 1 (the default) to
 * SENNIT_CHANNEL_AHEAD_MOST. The program divides the buffer into as many parts, used in turn: a
 * part is the writer's when can_write gives 1, and the reader's from can_read to have_read. Not
 * with SENNIT_CHANNEL_MIRROR. */
#define SENNIT_CHANNEL_AHEAD(messages) ((unsigned)(messages) << 8)
#define SENNIT_CHANNEL_AHEAD_MOST 128

/* The peers of channels, and this rank's buffer for each. */
typedef struct sennit_channel_ends {
    size_t count;
    const int *targets;   /* [count], ranks in the team, also the caller's own; may repeat */
    void *const *buffers; /* [count], memory that this rank may write, of any kind and alignment */
    const size_t *bytes;  /* [count], 0 is legal: the channel is then a flag */
} sennit_channel_ends;

/* Open a channel with each target, and wait until each target has opened one with this rank. Not
 * collective: the k-th channel that A opens with B joins the k-th that B opens with A.
 *
 * - Buffers may differ in size and overlap; they are registered until the channel is closed. Flags
 *   must be equal on both sides.
 * - peers[i] gets this rank's pointer to the peer's buffer, NULL if it has no bytes. `peers` may be
 *   NULL.
 * - In a channel to itself the caller reads its own messages, and peers[i] is its own buffer.
 *
 * On an error no channel of this call is open on this rank. A target that had already joined finds
 * its channel closed; a late one joins the next attempt.
 *
 * Errors: ARG (flags that differ), RANGE (a target), TIMEOUT (the error's peer is the first that is
 * missing), UNSUPPORTED (one side cannot load and store in the other's buffer; the error's text
 * tells which one), NOMEM (memory, 16383 channels of a rank), those of sennit_register. */
sennit_status sennit_channel_open(sennit_team team, const sennit_channel_ends *ends, unsigned flags,
                                  int64_t timeout_ns, void *peers[], sennit_channel channels[]);

/* Close `count` channels: wait until each peer has read what this rank wrote, closes the channel
 * too, or has died or left. The sides may close in any order. No other thread may use the channels.
 * A peer may still write until it notices the close. If it has other pointers to the memory, free
 * the memory only when the peer has stopped writing.
 *
 * After TIMEOUT all channels are open as before and the call may be repeated. But a peer that
 * closes during the call does not wait until this rank has read its last message. Errors: ARG (a
 * channel named twice). */
sennit_status sennit_channel_close(const sennit_channel channels[], size_t count,
                                   int64_t timeout_ns);

/* *can is 1 if the peer is ready (SENNIT_CHANNEL_NOT_READY) and has read all that this rank wrote,
 * else 0. With SENNIT_CHANNEL_AHEAD it is enough that fewer messages than allowed are unread. Never
 * waits. Errors: STATE (the peer has closed), PEER_LOST (repeated calls notice it after some
 * milliseconds). */
sennit_status sennit_channel_can_write(sennit_channel channel, int *can);

/* Hand the written data to the peer. Never waits. Errors: STATE (the limit of unread messages is
 * reached; the peer is not ready or has closed), and if a mirror is copied PEER_LOST,
 * NOT_REGISTERED, OS. */
sennit_status sennit_channel_have_written(sennit_channel channel);

/* *can is 1 if there is an unread message of the peer, else 0. Never waits. Errors: STATE (the peer
 * has closed and all is read), PEER_LOST (it has died or left and all is read), and if a mirror is
 * copied NOT_REGISTERED, OS. */
sennit_status sennit_channel_can_read(sennit_channel channel, int *can);

/* Return the oldest unread message: the peer may write its buffer again. With
 * SENNIT_CHANNEL_NOT_READY the first call returns the whole buffer. Errors: STATE (no message, or
 * the peer has closed). */
sennit_status sennit_channel_have_read(sennit_channel channel);

/* Wait until can_write or can_read would give 1. Errors: those of can_write and can_read. */
sennit_status sennit_channel_wait_write(sennit_channel channel, int64_t timeout_ns);
sennit_status sennit_channel_wait_read(sennit_channel channel, int64_t timeout_ns);

/* Wait until at least `least` messages of the peer are unread. *messages gets their number; each is
 * returned by its own have_read. Errors: those of wait_read, but STATE and PEER_LOST also if fewer
 * are unread when the peer closes, dies or leaves; ARG (`least` is 0 or more than may be
 * unread). */
sennit_status sennit_channel_wait_messages(sennit_channel channel, uint32_t least,
                                           int64_t timeout_ns, uint32_t *messages);

/* This rank's view of a channel. */
typedef struct sennit_channel_info {
    int peer;          /* world rank */
    int is_mirror;     /* 1: peer_buffer is a copy (SENNIT_CHANNEL_MIRROR) */
    void *peer_buffer; /* as in peers[i] */
    size_t peer_bytes; /* size of the peer's buffer */
    uint64_t written;  /* messages that this rank wrote */
    uint64_t read;     /* messages that this rank read */
} sennit_channel_info;

/* Query a channel. */
sennit_status sennit_channel_query(sennit_channel channel, sennit_channel_info *info);

#ifdef __cplusplus
}
#endif

#endif
