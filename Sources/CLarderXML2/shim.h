#pragma once
// Debian builds libxml2 with ICU, whose headers would become part of this module. Swift's Foundation contains a newer ICU, and a
// program that imports both does not compile ('UErrorCode' has different definitions in different modules). Only the private end of
// xmlCharEncodingHandler depends on the macro, and Larder does not read it.
#include <libxml/xmlversion.h>
#undef LIBXML_ICU_ENABLED
#include <libxml/parser.h>
#include <libxml/xmlerror.h>
