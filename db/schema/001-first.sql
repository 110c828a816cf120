-- db/schema/001-first.sql: the tables of schema 1.0.  SPDX-License-Identifier: MIT
--
-- Keys are canonical JSON.  A trial is in flight while ended_at is NULL; a row that is measured anew keeps its
-- last result until the new one arrives.  Times say in time_kind whether silicon or the model gave them.

CREATE TABLE meta(
    key   TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE device(
    id            INTEGER PRIMARY KEY,
    kind          TEXT NOT NULL CHECK (kind IN ('silicon', 'software', 'unknown')),
    target        TEXT NOT NULL,
    pci_device_id INTEGER NOT NULL,
    cu_count      INTEGER NOT NULL,
    partition     TEXT NOT NULL,
    memory_bytes  INTEGER NOT NULL,
    driver        TEXT NOT NULL,
    hip_version   TEXT NOT NULL,
    compiler      TEXT NOT NULL,
    model_version TEXT NOT NULL,
    UNIQUE (kind, target, pci_device_id, cu_count, partition, memory_bytes, driver, hip_version, compiler,
            model_version)
) STRICT;

CREATE TABLE problem(
    id     INTEGER PRIMARY KEY,
    family TEXT NOT NULL,
    pass   TEXT NOT NULL,
    key    TEXT NOT NULL,
    UNIQUE (family, pass, key)
) STRICT;

CREATE TABLE template(
    id     INTEGER PRIMARY KEY,
    family TEXT NOT NULL,
    hash   TEXT NOT NULL,
    UNIQUE (family, hash)
) STRICT;

CREATE TABLE config(
    id          INTEGER PRIMARY KEY,
    template_id INTEGER NOT NULL REFERENCES template(id),
    key         TEXT NOT NULL,
    UNIQUE (template_id, key)
) STRICT;

-- blob: the ELF as one zstd frame, NULL once collected; hash: SHA-256 of the plain ELF.
CREATE TABLE code_object(
    id            INTEGER PRIMARY KEY,
    hash          TEXT NOT NULL,
    blob          BLOB,
    target        TEXT NOT NULL,
    compiler      TEXT NOT NULL,
    launch_abi    TEXT NOT NULL,
    vgpr          INTEGER NOT NULL,
    agpr          INTEGER NOT NULL,
    sgpr          INTEGER NOT NULL,
    lds_bytes     INTEGER NOT NULL,
    scratch_bytes INTEGER NOT NULL,
    UNIQUE (hash, target, compiler, launch_abi)
) STRICT;

-- One call of tune.  pid, process_start and boot_id tell whether it still lives.
CREATE TABLE run(
    id            INTEGER PRIMARY KEY,
    command       TEXT NOT NULL,
    options       TEXT NOT NULL,
    outcome       TEXT,
    host          TEXT NOT NULL,
    boot_id       TEXT NOT NULL,
    pid           INTEGER NOT NULL,
    process_start INTEGER NOT NULL,
    started_at    TEXT NOT NULL,
    ended_at      TEXT
) STRICT;

CREATE TABLE trial(
    id             INTEGER PRIMARY KEY,
    run_id         INTEGER NOT NULL REFERENCES run(id),
    problem_id     INTEGER NOT NULL REFERENCES problem(id),
    config_id      INTEGER NOT NULL REFERENCES config(id),
    device_id      INTEGER NOT NULL REFERENCES device(id),
    code_object_id INTEGER REFERENCES code_object(id),
    status         TEXT NOT NULL CHECK (status IN ('running', 'ok', 'wrong', 'compile_error', 'timeout', 'fault',
                                                   'race', 'skipped')),
    time_us        REAL CHECK (time_us > 0),
    time_kind      TEXT NOT NULL DEFAULT 'untrusted' CHECK (time_kind IN ('measured', 'modelled', 'untrusted')),
    model_version  TEXT NOT NULL DEFAULT '',
    spread_pct     REAL,
    max_error      REAL,
    error_bound    REAL,
    reason         TEXT NOT NULL DEFAULT '',
    launch         TEXT NOT NULL DEFAULT '',
    verified       INTEGER NOT NULL DEFAULT 0 CHECK (verified IN (0, 1)),
    verified_full  INTEGER NOT NULL DEFAULT 0 CHECK (verified_full IN (0, 1)),
    deaths         INTEGER NOT NULL DEFAULT 0,
    started_at     TEXT NOT NULL,
    ended_at       TEXT,
    UNIQUE (problem_id, config_id, device_id)
) STRICT;

CREATE TABLE winner(
    problem_id INTEGER NOT NULL REFERENCES problem(id),
    device_id  INTEGER NOT NULL REFERENCES device(id),
    trial_id   INTEGER NOT NULL REFERENCES trial(id),
    PRIMARY KEY (problem_id, device_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE import(
    id          INTEGER PRIMARY KEY,
    source      TEXT NOT NULL,
    hash        TEXT NOT NULL,
    imported_at TEXT NOT NULL
) STRICT;

-- Foreign keys are followed backwards when unused rows are collected.
CREATE INDEX trial_run         ON trial(run_id);
CREATE INDEX trial_config      ON trial(config_id);
CREATE INDEX trial_device      ON trial(device_id);
CREATE INDEX trial_code_object ON trial(code_object_id);
CREATE INDEX winner_trial      ON winner(trial_id);
CREATE INDEX winner_device     ON winner(device_id);
