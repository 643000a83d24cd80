-- The tables of 0.1.0, frozen: stores keep these very texts, and no line of this file changes any more.
-- Each section is a migration under the name that stores know it by; what is no SQL of it is in m0001_first.py.

-- store.revisions_and_facts
create table revisions (name text primary key, revision integer not null) without rowid;
create table facts (name text primary key, value not null) without rowid;

-- series.series_and_chunks
create table layouts (digest blob primary key, body blob not null) without rowid;
create table series (owner text not null, dataset text not null, id integer not null unique, revision integer not null, rows integer not null, base integer not null, buckets integer not null, published integer not null, entries integer not null, layout blob not null, content blob not null, stats_crc integer not null, crc integer not null, stats blob not null, primary key (owner, dataset));
create table chunks (key integer primary key, head blob not null, data blob not null);
create table drafts (id integer primary key autoincrement, lease text, beat integer not null);
create table series_log (owner text not null, dataset text not null, time integer not null, revision integer not null, rows integer not null, crc integer not null, primary key (owner, dataset, revision)) without rowid;

-- pieces.pieces
create table contents (hash text primary key, size integer not null, created integer not null) without rowid;
create table pieces (hash text not null, start integer not null, crc integer not null, data blob not null, primary key (hash, start));

-- rows.tables
CREATE TABLE "organizations" ("id" TEXT PRIMARY KEY NOT NULL, "name" TEXT NOT NULL, "created_at" INTEGER NOT NULL, "updated_at" INTEGER NOT NULL, "name_folded" TEXT NOT NULL) STRICT;
CREATE UNIQUE INDEX "organizations_unique_0" ON "organizations" ("name");
CREATE TABLE "users" ("id" TEXT PRIMARY KEY NOT NULL, "name" TEXT NOT NULL, "created_at" INTEGER NOT NULL, "updated_at" INTEGER NOT NULL, "email" TEXT NOT NULL, "name_folded" TEXT NOT NULL) STRICT;
CREATE UNIQUE INDEX "users_unique_0" ON "users" ("email");
CREATE TABLE "projects" ("id" TEXT PRIMARY KEY NOT NULL, "name" TEXT NOT NULL, "created_at" INTEGER NOT NULL, "updated_at" INTEGER NOT NULL, "organization_id" TEXT NOT NULL REFERENCES "organizations"("id"), "created_by" TEXT REFERENCES "users"("id"), "description" TEXT, "name_folded" TEXT NOT NULL) STRICT;
CREATE UNIQUE INDEX "projects_unique_0" ON "projects" ("organization_id", "name");
CREATE TABLE "materials" ("id" TEXT PRIMARY KEY NOT NULL, "name" TEXT NOT NULL, "created_at" INTEGER NOT NULL, "updated_at" INTEGER NOT NULL, "organization_id" TEXT NOT NULL REFERENCES "organizations"("id"), "created_by" TEXT REFERENCES "users"("id"), "project_id" TEXT REFERENCES "projects"("id"), "notes" TEXT, "manufacturer" TEXT, "product_id" TEXT, "source" TEXT NOT NULL CHECK (json_valid("source")), "name_folded" TEXT NOT NULL) STRICT;
CREATE INDEX "materials_project_id" ON "materials" ("project_id");
CREATE TABLE "material_properties" ("id" TEXT PRIMARY KEY NOT NULL, "name" TEXT NOT NULL, "created_at" INTEGER NOT NULL, "updated_at" INTEGER NOT NULL, "organization_id" TEXT NOT NULL REFERENCES "organizations"("id"), "created_by" TEXT REFERENCES "users"("id"), "project_id" TEXT REFERENCES "projects"("id"), "notes" TEXT, "material_id" TEXT NOT NULL REFERENCES "materials"("id"), "data_version" INTEGER NOT NULL, "columns" TEXT NOT NULL CHECK (json_valid("columns")), "source" TEXT NOT NULL CHECK (json_valid("source")), "name_folded" TEXT NOT NULL) STRICT;
CREATE INDEX "material_properties_project_id" ON "material_properties" ("project_id");
CREATE INDEX "material_properties_material_id" ON "material_properties" ("material_id");
CREATE TABLE "specifications" ("id" TEXT PRIMARY KEY NOT NULL, "name" TEXT NOT NULL, "created_at" INTEGER NOT NULL, "updated_at" INTEGER NOT NULL, "organization_id" TEXT NOT NULL REFERENCES "organizations"("id"), "created_by" TEXT REFERENCES "users"("id"), "project_id" TEXT REFERENCES "projects"("id"), "notes" TEXT, "form_factor" TEXT, "manufacturer" TEXT, "ratings" TEXT NOT NULL CHECK (json_valid("ratings")), "anode_id" TEXT REFERENCES "materials"("id"), "cathode_id" TEXT REFERENCES "materials"("id"), "electrolyte_id" TEXT REFERENCES "materials"("id"), "separator_id" TEXT REFERENCES "materials"("id"), "case_id" TEXT REFERENCES "materials"("id"), "properties" TEXT NOT NULL CHECK (json_valid("properties")), "source" TEXT NOT NULL CHECK (json_valid("source")), "name_folded" TEXT NOT NULL) STRICT;
CREATE UNIQUE INDEX "specifications_unique_0" ON "specifications" ("organization_id", COALESCE("project_id", ''), "name");
CREATE INDEX "specifications_project_id" ON "specifications" ("project_id");
CREATE INDEX "specifications_anode_id" ON "specifications" ("anode_id");
CREATE INDEX "specifications_cathode_id" ON "specifications" ("cathode_id");
CREATE INDEX "specifications_electrolyte_id" ON "specifications" ("electrolyte_id");
CREATE INDEX "specifications_separator_id" ON "specifications" ("separator_id");
CREATE INDEX "specifications_case_id" ON "specifications" ("case_id");
CREATE TABLE "batches" ("id" TEXT PRIMARY KEY NOT NULL, "name" TEXT NOT NULL, "created_at" INTEGER NOT NULL, "updated_at" INTEGER NOT NULL, "organization_id" TEXT NOT NULL REFERENCES "organizations"("id"), "created_by" TEXT REFERENCES "users"("id"), "project_id" TEXT REFERENCES "projects"("id"), "notes" TEXT, "specification_id" TEXT NOT NULL REFERENCES "specifications"("id"), "date_manufactured" TEXT, "properties" TEXT NOT NULL CHECK (json_valid("properties")), "name_folded" TEXT NOT NULL) STRICT;
CREATE UNIQUE INDEX "batches_unique_0" ON "batches" ("specification_id", COALESCE("project_id", ''), "name_folded");
CREATE INDEX "batches_project_id" ON "batches" ("project_id");
CREATE INDEX "batches_specification_id" ON "batches" ("specification_id");
CREATE TABLE "instances" ("id" TEXT PRIMARY KEY NOT NULL, "name" TEXT NOT NULL, "created_at" INTEGER NOT NULL, "updated_at" INTEGER NOT NULL, "organization_id" TEXT NOT NULL REFERENCES "organizations"("id"), "created_by" TEXT REFERENCES "users"("id"), "project_id" TEXT REFERENCES "projects"("id"), "notes" TEXT, "specification_id" TEXT NOT NULL REFERENCES "specifications"("id"), "batch_id" TEXT REFERENCES "batches"("id"), "date_manufactured" TEXT, "properties" TEXT NOT NULL CHECK (json_valid("properties")), "name_folded" TEXT NOT NULL) STRICT;
CREATE UNIQUE INDEX "instances_unique_0" ON "instances" ("specification_id", COALESCE("project_id", ''), "name");
CREATE INDEX "instances_project_id" ON "instances" ("project_id");
CREATE INDEX "instances_specification_id" ON "instances" ("specification_id");
CREATE INDEX "instances_batch_id" ON "instances" ("batch_id");
CREATE TABLE "measurements" ("id" TEXT PRIMARY KEY NOT NULL, "name" TEXT NOT NULL, "created_at" INTEGER NOT NULL, "updated_at" INTEGER NOT NULL, "organization_id" TEXT NOT NULL REFERENCES "organizations"("id"), "created_by" TEXT REFERENCES "users"("id"), "project_id" TEXT REFERENCES "projects"("id"), "notes" TEXT, "instance_id" TEXT NOT NULL REFERENCES "instances"("id"), "measurement_type" TEXT NOT NULL, "start_time" INTEGER, "end_time" INTEGER, "processing_status" TEXT NOT NULL, "tags" TEXT NOT NULL CHECK (json_valid("tags")), "properties" TEXT NOT NULL CHECK (json_valid("properties")), "protocol" TEXT NOT NULL CHECK (json_valid("protocol")), "test_setup" TEXT NOT NULL CHECK (json_valid("test_setup")), "processing_error" TEXT, "file_name" TEXT, "content_hash" TEXT, "source" TEXT NOT NULL CHECK (json_valid("source")), "files" TEXT NOT NULL CHECK (json_valid("files")), "name_folded" TEXT NOT NULL) STRICT;
CREATE UNIQUE INDEX "measurements_unique_0" ON "measurements" ("instance_id", COALESCE("project_id", ''), "name");
CREATE UNIQUE INDEX "measurements_unique_1" ON "measurements" ("organization_id", COALESCE("project_id", ''), "content_hash") WHERE "content_hash" IS NOT NULL;
CREATE INDEX "measurements_project_id" ON "measurements" ("project_id");
CREATE INDEX "measurements_instance_id" ON "measurements" ("instance_id");
CREATE TABLE "analyses" ("id" TEXT PRIMARY KEY NOT NULL, "name" TEXT NOT NULL, "created_at" INTEGER NOT NULL, "updated_at" INTEGER NOT NULL, "organization_id" TEXT NOT NULL REFERENCES "organizations"("id"), "created_by" TEXT REFERENCES "users"("id"), "project_id" TEXT REFERENCES "projects"("id"), "notes" TEXT, "measurement_id" TEXT NOT NULL REFERENCES "measurements"("id"), "analysis_type" TEXT NOT NULL, "metadata" TEXT NOT NULL CHECK (json_valid("metadata")), "columns" TEXT NOT NULL CHECK (json_valid("columns")), "plots" TEXT NOT NULL CHECK (json_valid("plots")), "name_folded" TEXT NOT NULL) STRICT;
CREATE INDEX "analyses_project_id" ON "analyses" ("project_id");
CREATE INDEX "analyses_measurement_id" ON "analyses" ("measurement_id");
CREATE TABLE "models" ("id" TEXT PRIMARY KEY NOT NULL, "name" TEXT NOT NULL, "created_at" INTEGER NOT NULL, "updated_at" INTEGER NOT NULL, "organization_id" TEXT REFERENCES "organizations"("id"), "created_by" TEXT REFERENCES "users"("id"), "project_id" TEXT REFERENCES "projects"("id"), "description" TEXT, "config" TEXT NOT NULL CHECK (json_valid("config")), "chemistry" TEXT NOT NULL, "is_custom_model" INTEGER NOT NULL, "simulator_version" TEXT, "simulation_settings" TEXT CHECK ("simulation_settings" IS NULL OR json_valid("simulation_settings")), "source_model_id" TEXT REFERENCES "models"("id"), "name_folded" TEXT NOT NULL) STRICT;
CREATE INDEX "models_project_id" ON "models" ("project_id");
CREATE INDEX "models_source_model_id" ON "models" ("source_model_id");
CREATE TABLE "simulations" ("id" TEXT PRIMARY KEY NOT NULL, "name" TEXT NOT NULL, "created_at" INTEGER NOT NULL, "updated_at" INTEGER NOT NULL, "organization_id" TEXT NOT NULL REFERENCES "organizations"("id"), "created_by" TEXT REFERENCES "users"("id"), "project_id" TEXT REFERENCES "projects"("id"), "notes" TEXT, "model_id" TEXT REFERENCES "models"("id"), "specification_id" TEXT REFERENCES "specifications"("id"), "state" TEXT NOT NULL, "error" TEXT, "metrics" TEXT NOT NULL CHECK (json_valid("metrics")), "source" TEXT NOT NULL CHECK (json_valid("source")), "name_folded" TEXT NOT NULL) STRICT;
CREATE INDEX "simulations_project_id" ON "simulations" ("project_id");
CREATE INDEX "simulations_model_id" ON "simulations" ("model_id");
CREATE INDEX "simulations_specification_id" ON "simulations" ("specification_id");
CREATE TABLE "studies" ("id" TEXT PRIMARY KEY NOT NULL, "name" TEXT NOT NULL, "created_at" INTEGER NOT NULL, "updated_at" INTEGER NOT NULL, "organization_id" TEXT NOT NULL REFERENCES "organizations"("id"), "created_by" TEXT REFERENCES "users"("id"), "project_id" TEXT REFERENCES "projects"("id"), "description" TEXT, "name_folded" TEXT NOT NULL) STRICT;
CREATE INDEX "studies_project_id" ON "studies" ("project_id");
CREATE TABLE "drive_cycles" ("id" TEXT PRIMARY KEY NOT NULL, "name" TEXT NOT NULL, "created_at" INTEGER NOT NULL, "updated_at" INTEGER NOT NULL, "organization_id" TEXT NOT NULL REFERENCES "organizations"("id"), "created_by" TEXT REFERENCES "users"("id"), "data" TEXT NOT NULL CHECK (json_valid("data")), "content_hash" TEXT NOT NULL, "measurement_id" TEXT REFERENCES "measurements"("id"), "name_folded" TEXT NOT NULL) STRICT;
CREATE UNIQUE INDEX "drive_cycles_unique_0" ON "drive_cycles" ("organization_id", "content_hash");
CREATE INDEX "drive_cycles_measurement_id" ON "drive_cycles" ("measurement_id");
CREATE TABLE "dashboards" ("id" TEXT PRIMARY KEY NOT NULL, "name" TEXT NOT NULL, "created_at" INTEGER NOT NULL, "updated_at" INTEGER NOT NULL, "organization_id" TEXT NOT NULL REFERENCES "organizations"("id"), "created_by" TEXT REFERENCES "users"("id"), "project_id" TEXT REFERENCES "projects"("id"), "description" TEXT, "layout" TEXT NOT NULL CHECK (json_valid("layout")), "name_folded" TEXT NOT NULL) STRICT;
CREATE UNIQUE INDEX "dashboards_unique_0" ON "dashboards" ("organization_id", COALESCE("project_id", ''), "name");
CREATE INDEX "dashboards_project_id" ON "dashboards" ("project_id");
CREATE TABLE "plots" ("id" TEXT PRIMARY KEY NOT NULL, "name" TEXT NOT NULL, "created_at" INTEGER NOT NULL, "updated_at" INTEGER NOT NULL, "organization_id" TEXT NOT NULL REFERENCES "organizations"("id"), "created_by" TEXT REFERENCES "users"("id"), "project_id" TEXT REFERENCES "projects"("id"), "dashboard_id" TEXT NOT NULL REFERENCES "dashboards"("id"), "config" TEXT NOT NULL CHECK (json_valid("config")), "revision" INTEGER NOT NULL, "name_folded" TEXT NOT NULL) STRICT;
CREATE UNIQUE INDEX "plots_unique_0" ON "plots" ("dashboard_id", "name");
CREATE INDEX "plots_project_id" ON "plots" ("project_id");
CREATE INDEX "plots_dashboard_id" ON "plots" ("dashboard_id");
CREATE TABLE "study_measurements" ("study_id" TEXT NOT NULL REFERENCES "studies"("id"), "measurement_id" TEXT NOT NULL REFERENCES "measurements"("id"), PRIMARY KEY ("study_id", "measurement_id")) STRICT, WITHOUT ROWID;
CREATE INDEX "study_measurements_measurement_id" ON "study_measurements" ("measurement_id");
CREATE TABLE "study_simulations" ("study_id" TEXT NOT NULL REFERENCES "studies"("id"), "simulation_id" TEXT NOT NULL REFERENCES "simulations"("id"), PRIMARY KEY ("study_id", "simulation_id")) STRICT, WITHOUT ROWID;
CREATE INDEX "study_simulations_simulation_id" ON "study_simulations" ("simulation_id");
CREATE TABLE "plot_revisions" ("plot_id" TEXT NOT NULL REFERENCES "plots"("id"), "revision" INTEGER NOT NULL, "name" TEXT NOT NULL, "config" TEXT NOT NULL CHECK (json_valid("config")), "origin" TEXT NOT NULL, "created_at" INTEGER NOT NULL, "created_by" TEXT REFERENCES "users"("id"), PRIMARY KEY ("plot_id", "revision")) STRICT;
CREATE TABLE search_entries (
        entry INTEGER PRIMARY KEY, entity TEXT NOT NULL, id TEXT NOT NULL UNIQUE, organization_id TEXT,
        project_id TEXT, parent_id TEXT, created_at INTEGER NOT NULL, name TEXT NOT NULL,
        folded TEXT NOT NULL, words TEXT NOT NULL) STRICT;
CREATE VIRTUAL TABLE search_names USING fts5 (
        folded, content = 'search_entries', content_rowid = 'entry', tokenize = 'trigram case_sensitive 1');
CREATE VIRTUAL TABLE search_words USING fts5 (
        words, content = 'search_entries', content_rowid = 'entry',
        tokenize = 'unicode61 remove_diacritics 2', prefix = '2 3');
CREATE TRIGGER search_added AFTER INSERT ON search_entries BEGIN
        INSERT INTO search_names (rowid, folded) VALUES (new.entry, new.folded);
        INSERT INTO search_words (rowid, words) VALUES (new.entry, new.words);
    END;
CREATE TRIGGER search_removed AFTER DELETE ON search_entries BEGIN
        INSERT INTO search_names (search_names, rowid, folded) VALUES ('delete', old.entry, old.folded);
        INSERT INTO search_words (search_words, rowid, words) VALUES ('delete', old.entry, old.words);
    END;

-- rows.raw_data
CREATE TABLE "raw_data" ("id" TEXT PRIMARY KEY NOT NULL, "name" TEXT NOT NULL, "created_at" INTEGER NOT NULL, "updated_at" INTEGER NOT NULL, "organization_id" TEXT NOT NULL REFERENCES "organizations"("id"), "created_by" TEXT REFERENCES "users"("id"), "project_id" TEXT REFERENCES "projects"("id"), "filename" TEXT NOT NULL, "content_type" TEXT NOT NULL, "size" INTEGER NOT NULL, "piece" TEXT NOT NULL, "source" TEXT, "metadata" TEXT NOT NULL CHECK (json_valid("metadata")), "name_folded" TEXT NOT NULL) STRICT;
CREATE INDEX "raw_data_project_id" ON "raw_data" ("project_id");

-- rows.chats
CREATE TABLE "sessions" ("id" TEXT PRIMARY KEY NOT NULL, "name" TEXT NOT NULL, "created_at" INTEGER NOT NULL, "updated_at" INTEGER NOT NULL, "organization_id" TEXT NOT NULL REFERENCES "organizations"("id"), "created_by" TEXT REFERENCES "users"("id"), "project_id" TEXT REFERENCES "projects"("id"), "dashboard_id" TEXT REFERENCES "dashboards"("id"), "plot_id" TEXT REFERENCES "plots"("id"), "sdk_session_id" TEXT, "name_folded" TEXT NOT NULL) STRICT;
CREATE INDEX "sessions_project_id" ON "sessions" ("project_id");
CREATE INDEX "sessions_dashboard_id" ON "sessions" ("dashboard_id");
CREATE INDEX "sessions_plot_id" ON "sessions" ("plot_id");
create table messages (id text primary key, session_id text not null references sessions(id), role text not null, content text not null check (json_valid(content)), created_at integer not null) strict;
create index messages_session on messages (session_id, created_at);
create table plot_drafts (id text primary key, session_id text not null references sessions(id), draft text not null check (json_valid(draft)), accepted text, created_at integer not null) strict;
create index plot_drafts_session on plot_drafts (session_id, created_at);

-- rows.checksums
create table seals (kind text not null, id text not null, crc integer not null, primary key (kind, id)) without rowid;

-- people.people
create table members (organization_id text not null references organizations(id), user_id text not null references users(id), role text not null check (role in ('Admin', 'Member')), everywhere text, is_active integer not null default 1, invited_at integer, joined_at integer, created_at integer not null, primary key (organization_id, user_id)) strict;
create table project_roles (project_id text not null references projects(id) on delete cascade, user_id text not null references users(id), role text not null, created_at integer not null, updated_at integer not null, primary key (project_id, user_id)) strict;
create index project_roles_user on project_roles (user_id);
create table keys (id text primary key, secret blob not null, organization_id text not null references organizations(id), user_id text not null references users(id), created_at integer not null, expires_at integer, used_at integer, revoked_at integer) strict;
create index keys_organization on keys (organization_id);
create table audit (at integer not null, organization_id text, user_id text, key_id text, action text not null, target text, status integer, request text, detail text) strict;
create index audit_at on audit (organization_id, at);
insert into members (organization_id, user_id, role, joined_at, created_at) select o.id, u.id, 'Admin', 0, 0 from organizations as o, users as u where u.email = 'local@localhost';

-- uploads.uploads
create table uploads (id text primary key, target text not null, purpose text not null, organization_id text not null, project_id text, user_id text not null, about text not null, state text not null, lease text, error text, created_at integer not null, beat integer not null) strict;
create index uploads_target on uploads (target);
create table upload_objects (id text primary key, upload text not null references uploads(id) on delete cascade, place integer not null, filename text not null, size integer, piece text, content_type text) strict;
create index upload_objects_upload on upload_objects (upload);
create table attachments (owner text not null, name text not null, filename text not null, content_type text not null, size integer not null, piece text not null, primary key (owner, name)) strict;
create table measurement_raw_data (measurement_id text not null references measurements(id) on delete cascade, raw_data_id text not null references raw_data(id) on delete cascade, primary key (measurement_id, raw_data_id)) strict, without rowid;
create index measurement_raw_data_other on measurement_raw_data (raw_data_id);
insert or ignore into facts (name, value) values ('signing', lower(hex(randomblob(32))));
