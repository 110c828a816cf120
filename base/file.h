/* base/file.h: whole files, and replacing one without ever leaving half of it.    SPDX-License-Identifier: MIT */
#ifndef MOESAIC_BASE_FILE_H
#define MOESAIC_BASE_FILE_H

#include "base/status.h"
#include "base/str.h"

/* Read a whole file (at most max_bytes; larger is an error).  out is appended to; the caller frees it.
 * Errors: E_IO with path and reason. */
moesaic_status file_read(const char *path, size_t max_bytes, str *out, moesaic_text *err);

/* Write a whole file: temporary name in the same folder, fsync, rename.  Errors: E_IO; nothing is left behind. */
moesaic_status file_replace(const char *path, const void *bytes, size_t n, moesaic_text *err);

bool file_exists(const char *path);

/* Make a folder and its parents (0777 less umask); existing ones are fine. */
moesaic_status file_make_folder(const char *path, moesaic_text *err);

/* The running executable's folder, without trailing slash; a malloc'ed string or NULL. */
char *file_executable_folder(void);

/* Where data files (templates, workloads, rules) lie: $MOESAIC_DATA, else next to a build tree's executable, else
 * ../share/moesaic; else the same from where libmoesaic lies, for programs of others.  `name` like "templates"; a
 * malloc'ed path or NULL when nowhere. */
char *file_data_folder(const char *name);

/* $XDG_DATA_HOME/moesaic, else ~/.local/share/moesaic; malloc'ed, or NULL. */
char *file_user_folder(void);

#endif
