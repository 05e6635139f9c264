/* The name by which programs of ZCom include it. */
#include <sennit/sennit_zcom.h>
