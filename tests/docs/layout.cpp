// The layouts of structs in headers, and the calls that print the others.
#include "layout.hpp"

#include "bootstrap/card.hpp"
#include "bootstrap/launch_protocol.hpp"
#include "channel/words.hpp"
#include "lock/lock.hpp"
#include "queue/queue.hpp"
#include "rank/control_block.hpp"
#include "runtime/watch/connection.hpp"
#include "runtime/watch/table.hpp"
#include "signal/words.hpp"
#include "transport/fabric/wire.hpp"
#include "transport/transport.hpp"

using namespace sennit;
using namespace sennit::runtime;
using lock::LockLine;
using lock::LockPiece;

static void print_control_block() {
    STRUCT(ControlBlock);
    FIELD(ControlBlock, header);
    FIELD(ControlBlock, doorbell);
    FIELD(ControlBlock, processors);
    FIELD(ControlBlock, chunk_offsets);
    FIELD(ControlBlock, first_teams);
    FIELD(ControlBlock, records);
    FIELD(ControlBlock, unused);
    FIELD(ControlBlock, more_teams);
    STRUCT(ControlHeader);
    FIELD(ControlHeader, magic);
    FIELD(ControlHeader, layout_version);
    FIELD(ControlHeader, rank);
    FIELD(ControlHeader, size);
    FIELD(ControlHeader, state);
    FIELD(ControlHeader, job_cookie);
    FIELD(ControlHeader, control_bytes);
    FIELD(ControlHeader, users);
    FIELD(ControlHeader, attaching);
    FIELD(ControlHeader, probe_token);
    FIELD(ControlHeader, probe_echo);
    FIELD(ControlHeader, signal_chunks);
    STRUCT(Doorbell);
    FIELD(Doorbell, sleepers);
    FIELD(Doorbell, rings);
    FIELD(Doorbell, unused);
    STRUCT(ProcessorSet);
    FIELD(ProcessorSet, words);
    STRUCT(TeamSync);
    FIELD(TeamSync, arrived);
    FIELD(TeamSync, rounds);
    FIELD(TeamSync, mailboxes);
    FIELD(TeamSync, cluster);
    FIELD(TeamSync, coll);
    STRUCT(ArrivalLine);
    FIELD(ArrivalLine, epoch);
    FIELD(ArrivalLine, waiting);
    FIELD(ArrivalLine, sent);
    FIELD(ArrivalLine, unused);
    STRUCT(EpochLine);
    FIELD(EpochLine, epoch);
    FIELD(EpochLine, unused);
    STRUCT(ClusterLines);
    FIELD(ClusterLines, arrived);
    FIELD(ClusterLines, clusters);
    FIELD(ClusterLines, released);
    STRUCT(Mailbox);
    FIELD(Mailbox, bytes);
}

static void print_watch() {
    using namespace sennit::watch;
    STRUCT(TableHead);
    FIELD(TableHead, watcher);
    FIELD(TableHead, changes);
    FIELD(TableHead, watched_ns);
    FIELD(TableHead, first_end_ns);
    FIELD(TableHead, tables_offset);
    FIELD(TableHead, tables_bytes);
    FIELD(TableHead, ended);
    FIELD(TableHead, unused);
    STRUCT(TablePlace);
    FIELD(TablePlace, gone);
    FIELD(TablePlace, leaving);
    FIELD(TablePlace, question_ns);
    FIELD(TablePlace, answered_ns);
    FIELD(TablePlace, their_lease_ns);
    FIELD(TablePlace, lease_end_ns);
    FIELD(TablePlace, watched_since_ns);
    FIELD(TablePlace, looked_ns);
    FIELD(TablePlace, unheard_ns);
    STRUCT(Note);
    FIELD(Note, cookie);
    FIELD(Note, kind);
    FIELD(Note, from);
    FIELD(Note, rank);
    FIELD(Note, unused);
    FIELD(Note, time_ns);
    FIELD(Note, value);
}

static void print_channels() {
    using namespace sennit::channel;
    STRUCT(OfferSlot);
    FIELD(OfferSlot, offer);
    FIELD(OfferSlot, handshake);
    STRUCT(ChannelOffer);
    FIELD(ChannelOffer, bytes);
    FIELD(ChannelOffer, offset);
    FIELD(ChannelOffer, segment);
    FIELD(ChannelOffer, segment_rank);
    FIELD(ChannelOffer, flags);
    FIELD(ChannelOffer, half);
    FIELD(ChannelOffer, chunk_offset);
    FIELD(ChannelOffer, chunk_address);
    FIELD(ChannelOffer, unused);
    STRUCT(Chunk);
    FIELD(Chunk, users);
    FIELD(Chunk, halves);
    STRUCT(Half);
    FIELD(Half, written);
    FIELD(Half, read);
    STRUCT(WrittenLine);
    FIELD(WrittenLine, word);
    FIELD(WrittenLine, is_closing);
    STRUCT(ReadLine);
    FIELD(ReadLine, count);
}

static void print_signals() {
    using namespace sennit::signal;
    STRUCT(SignalChunkHead);
    FIELD(SignalChunkHead, magic);
    FIELD(SignalChunkHead, chunk);
    FIELD(SignalChunkHead, signals);
    STRUCT(SignalRecord);
    FIELD(SignalRecord, slot);
    FIELD(SignalRecord, refused);
    FIELD(SignalRecord, epoch);
    FIELD(SignalRecord, in_set);
    FIELD(SignalRecord, handle);
    FIELD(SignalRecord, events);
    FIELD(SignalRecord, max_events);
    FIELD(SignalRecord, owner);
    FIELD(SignalRecord, event_bits);
    FIELD(SignalRecord, most_ahead);
    STRUCT(BlockRecord);
    FIELD(BlockRecord, magic);
    FIELD(BlockRecord, version);
    FIELD(BlockRecord, job);
    FIELD(BlockRecord, rank);
    FIELD(BlockRecord, segment);
    FIELD(BlockRecord, offset);
    FIELD(BlockRecord, bytes);
    FIELD(BlockRecord, region);
    FIELD(BlockRecord, region_generation);
    FIELD(BlockRecord, on_send);
    FIELD(BlockRecord, on_recv);
    FIELD(BlockRecord, send_epoch);
    FIELD(BlockRecord, recv_epoch);
    FIELD(BlockRecord, check);
}

static void print_queues() {
    using namespace sennit::queue;
    STRUCT(QueueHead);
    FIELD(QueueHead, magic);
    FIELD(QueueHead, item_bytes);
    FIELD(QueueHead, stride);
    FIELD(QueueHead, capacity);
    FIELD(QueueHead, rings);
    FIELD(QueueHead, sleeps_with_barrier);
    STRUCT(ProducerRing);
    FIELD(ProducerRing, put);
    FIELD(ProducerRing, taken);
    FIELD(ProducerRing, producer);
}

static void print_segment_record() {
    STRUCT(SegmentRecord);
    FIELD(SegmentRecord, id);
    FIELD(SegmentRecord, kind);
    FIELD(SegmentRecord, mechanism);
    FIELD(SegmentRecord, actor);
    FIELD(SegmentRecord, version);
    FIELD(SegmentRecord, bytes);
    FIELD(SegmentRecord, file_offset);
    FIELD(SegmentRecord, mapped_bytes);
    FIELD(SegmentRecord, owner_address);
    FIELD(SegmentRecord, alignment);
    FIELD(SegmentRecord, page_bytes);
    FIELD(SegmentRecord, flags);
    FIELD(SegmentRecord, mapping_device);
    FIELD(SegmentRecord, mapping_inode);
    FIELD(SegmentRecord, epoch);
    FIELD(SegmentRecord, owner_slot);
    FIELD(SegmentRecord, view_offset);
    FIELD(SegmentRecord, slot_bytes);
    FIELD(SegmentRecord, next_extent);
    FIELD(SegmentRecord, head_bytes);
    FIELD(SegmentRecord, live);
    FIELD(SegmentRecord, refusals);
    FIELD(SegmentRecord, refusal_details);
    FIELD(SegmentRecord, memory);
    FIELD(SegmentRecord, unused);
}

static void print_card() {
    STRUCT(Card);
    FIELD(Card, magic);
    FIELD(Card, version);
    FIELD(Card, rank);
    FIELD(Card, size);
    FIELD(Card, process_id);
    FIELD(Card, numa);
    FIELD(Card, start_ticks);
    FIELD(Card, node);
    FIELD(Card, kernel);
    FIELD(Card, process_cookie);
    FIELD(Card, job_cookie);
    FIELD(Card, socket_name);
    FIELD(Card, processors);
}

static void print_launch_messages() {
    STRUCT(LaunchHello);
    FIELD(LaunchHello, magic);
    FIELD(LaunchHello, version);
    FIELD(LaunchHello, rank);
    FIELD(LaunchHello, size);
    FIELD(LaunchHello, zero);
    FIELD(LaunchHello, cookie);
    STRUCT(LaunchFrame);
    FIELD(LaunchFrame, magic);
    FIELD(LaunchFrame, kind);
    FIELD(LaunchFrame, sequence);
    FIELD(LaunchFrame, bytes);
    FIELD(LaunchFrame, peer);
    FIELD(LaunchFrame, zero);
}

static void print_pointer() {
    STRUCT(sennit_gptr);
    FIELD(sennit_gptr, rank);
    FIELD(sennit_gptr, segment);
    FIELD(sennit_gptr, offset);
}

static void print_task() {
    using transport::Task;
    STRUCT(Task);
    FIELD(Task, sequence);
    FIELD(Task, count);
    FIELD(Task, payload_bytes);
    FIELD(Task, reply_bytes);
    FIELD(Task, operation);
    FIELD(Task, type);
    FIELD(Task, may_wait);
    FIELD(Task, unused);
}

static void print_fabric() {
    using namespace transport::fabric;
    STRUCT(RailCard);
    FIELD(RailCard, machine);
    FIELD(RailCard, addresses);
    FIELD(RailCard, prefixes);
    FIELD(RailCard, port);
    FIELD(RailCard, watch_port);
    FIELD(RailCard, interfaces);
    FIELD(RailCard, most_rails);
    FIELD(RailCard, speeds);
    FIELD(RailCard, provider);
    FIELD(RailCard, more);
    STRUCT(MessageHeader);
    FIELD(MessageHeader, job_cookie);
    FIELD(MessageHeader, kind);
    FIELD(MessageHeader, rail);
    FIELD(MessageHeader, answers);
    FIELD(MessageHeader, after_events);
    FIELD(MessageHeader, from);
    FIELD(MessageHeader, id);
    FIELD(MessageHeader, handle);
    FIELD(MessageHeader, offset);
    FIELD(MessageHeader, bytes);
    FIELD(MessageHeader, body_bytes);
    FIELD(MessageHeader, status);
    FIELD(MessageHeader, back_port);
    FIELD(MessageHeader, task);
    STRUCT(LateAnswer);
    FIELD(LateAnswer, id);
    FIELD(LateAnswer, reply);
    STRUCT(KeyRow);
    FIELD(KeyRow, handle);
    FIELD(KeyRow, base);
    FIELD(KeyRow, key);
}

static void print_lock() {
    using namespace team;
    STRUCT(LockPiece);
    FIELD(LockPiece, word);
    FIELD(LockPiece, tickets);
    FIELD(LockPiece, grant);
    FIELD(LockPiece, own);
    STRUCT(LockLine);
    FIELD(LockLine, word);
    FIELD(LockLine, unused);
}

int main() {
    print_control_block();
    print_segment_record();
    print_signals();
    print_queues();
    print_channels();
    print_watch();
    print_card();
    print_startup_layouts();
    print_node_exchange_layouts();
    print_launch_messages();
    print_collective_layouts();
    print_exchange_layouts();
    print_allocation_layouts();
    print_creation_layouts();
    print_pointer();
    print_task();
    print_fabric();
    print_lock();
    print_trace_layouts();
    return 0;
}
