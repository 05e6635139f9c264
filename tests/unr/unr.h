/* The name by which programs of UNR include it. */
#include <sennit/sennit_unr.h>
