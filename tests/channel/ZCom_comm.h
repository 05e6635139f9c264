/* Programs of ZCom include the header by this name. */
#include <sennit/sennit_zcom.h>
