#pragma once
// libwebp reports errors as values, so nothing needs a wrapper.
#include <webp/decode.h>
#include <webp/encode.h>
