/* tools/tidy.h: what clang's analyser cannot see across files; `make tidy` includes it first.
 *
 * A failure's status is the one that was handed in, so what follows MOESAIC_OK did not fail.
 * SPDX-License-Identifier: MIT
 */
#ifndef MOESAIC_TOOLS_TIDY_H
#define MOESAIC_TOOLS_TIDY_H

#include "base/status.h"

#define moesaic_fail(err, status, ...) ((void)(moesaic_fail)(err, status, __VA_ARGS__), (status))
#define moesaic_fail_in(err, status, ...)                                                          \
    ((void)(moesaic_fail_in)(err, status, __VA_ARGS__), (status))

#endif
