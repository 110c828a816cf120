/* cli/table.c: a table on stdout whose columns are as wide as their widest cell.
 *
 * Tested by tests/cli/test_table.c.    SPDX-License-Identifier: MIT
 */
#include "cli/cli.h"

#include "base/str.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TABLE_MAX_COLUMNS = 32 };

struct cli_table {
    const char *headings[TABLE_MAX_COLUMNS]; /* with the sign of alignment in front */
    char **cells;
    size_t n_columns, n_cells, capacity;
    bool failed;
};

cli_table *cli_table_new(void)
{
    return calloc(1, sizeof(cli_table));
}

void cli_table_column(cli_table *table, const char *heading)
{
    if (!table)
        return;
    ASSERT(table->n_columns < TABLE_MAX_COLUMNS && (heading[0] == '<' || heading[0] == '>'));
    table->headings[table->n_columns++] = heading;
}

static bool reserve(cli_table *table)
{
    if (table->n_cells < table->capacity)
        return true;
    size_t capacity = table->capacity ? 2 * table->capacity : 64;
    char **cells = realloc(table->cells, capacity * sizeof *cells);
    if (!cells)
        return false;
    table->cells = cells;
    table->capacity = capacity;
    return true;
}

void cli_table_cell(cli_table *table, const char *format, ...)
{
    if (!table || table->failed)
        return;
    str text = {0};
    va_list arguments;
    va_start(arguments, format);
    str_add(&text, "");
    str_vprintf(&text, format, arguments);
    va_end(arguments);
    if (text.failed || !reserve(table)) {
        table->failed = true;
        str_free(&text);
        return;
    }
    table->cells[table->n_cells++] = text.s;
}

/* Characters, not bytes, of UTF-8 text. */
static int width_of(const char *text)
{
    int n = 0;
    for (; *text; text++)
        n += ((unsigned char)*text & 0xc0) != 0x80;
    return n;
}

static int column_width(const cli_table *table, size_t column)
{
    int width = width_of(table->headings[column] + 1);
    for (size_t i = column; i < table->n_cells; i += table->n_columns) {
        int w = table->cells[i] ? width_of(table->cells[i]) : 0;
        width = w > width ? w : width;
    }
    return width;
}

static void print_cell(const char *text, char align, int width, bool last)
{
    int pad = width - width_of(text);
    printf("%*s%s%*s%s", align == '>' ? pad : 0, "", text, align == '<' && !last ? pad : 0, "",
           last ? "" : "  ");
}

static void print_rows(const cli_table *table)
{
    int widths[TABLE_MAX_COLUMNS];
    size_t n = table->n_columns;
    bool bold = cli_wants_colour(STDOUT_FILENO);
    for (size_t c = 0; c < n; c++)
        widths[c] = column_width(table, c);
    fputs(bold ? "\033[1m" : "", stdout);
    for (size_t c = 0; c < n; c++)
        print_cell(table->headings[c] + 1, table->headings[c][0], widths[c], c + 1 == n);
    fputs(bold ? "\033[0m\n" : "\n", stdout);
    for (size_t i = 0; i < table->n_cells; i++) {
        size_t c = i % n;
        print_cell(table->cells[i] ? table->cells[i] : "", table->headings[c][0], widths[c],
                   c + 1 == n);
        if (c + 1 == n)
            putchar('\n');
    }
}

int cli_table_print(cli_table *table)
{
    if (!table)
        return CLI_FAILED;
    ASSERT(table->n_columns && (table->failed || table->n_cells % table->n_columns == 0));
    bool ok = !table->failed;
    if (ok)
        print_rows(table);
    ok = fflush(stdout) == 0 && ok;
    for (size_t i = 0; i < table->n_cells; i++)
        free(table->cells[i]);
    free(table->cells);
    free(table);
    return ok ? CLI_OK : CLI_FAILED;
}
