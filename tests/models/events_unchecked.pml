/* As events.pml, with nothing looked at before a put and nothing pushed: the program's own means tell S when T has reset. Either events
 * say their epoch, or they are of kind current: T counts them in the epoch that it is in, and S knows of no epoch. S asks what T has taken, and compares it with what it has sent by
 * then; answers are late. Of kind current T says how many events of a rail it had taken when its epoch began.
 *
 * Mistakes that must be found: FORGETS_EPOCH (S does not take it from T's epoch that what came before is counted), FORGETS_BEFORE (the same of kind current), KEEPS_BEFORE (T says it of
 * the epoch of the last event), COMPARES_OLD (S compares with what it had sent when it asked). */
#define LONG_SEARCH
#define UNCHECKED
#include "events.pml"
