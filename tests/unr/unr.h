/* The name by which programs of UNR include the header. */
#include <sennit/sennit_unr.h>
