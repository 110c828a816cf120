/* emu/timing/model_version.h: what modelled times are labelled with.    SPDX-License-Identifier: MIT */
#ifndef MOESAIC_EMU_TIMING_MODEL_VERSION_H
#define MOESAIC_EMU_TIMING_MODEL_VERSION_H

/* Changed by every change of model or constants. */
#define EMU_MODEL_VERSION "0"

#endif
