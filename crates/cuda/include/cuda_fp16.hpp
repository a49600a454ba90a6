/* Numbers of 16 bits, by the name of their second header. */
#include "cuda_fp16.h"
