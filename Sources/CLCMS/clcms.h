#pragma once
#include <lcms2.h>

// Pixel formats are macros of macros, which Swift does not import.
static const cmsUInt32Number clcms_rgba8 = TYPE_RGBA_8;
static const cmsUInt32Number clcms_rgba16 = TYPE_RGBA_16;
static const cmsUInt32Number clcms_grey8 = TYPE_GRAY_8;
static const cmsUInt32Number clcms_grey16 = TYPE_GRAY_16;
static const cmsUInt32Number clcms_grey_alpha8 = TYPE_GRAYA_8;
static const cmsUInt32Number clcms_grey_alpha16 = TYPE_GRAYA_16;
static const cmsUInt32Number clcms_cmyk8_inverted = TYPE_CMYK_8_REV;
