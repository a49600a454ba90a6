/* Mathematical functions, by their old address. */
#ifndef RADDLE_MATH_FUNCTIONS_HPP
#define RADDLE_MATH_FUNCTIONS_HPP

#include "crt/math_functions.hpp"

#endif
