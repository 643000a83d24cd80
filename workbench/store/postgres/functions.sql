-- Functions of SQLite that the store's SQL uses, for PostgreSQL. A new store gets them with its tables.

CREATE OR REPLACE FUNCTION json_extract(text, text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT $1::json #>> string_to_array(ltrim(replace(replace(substr($2, 2), '[', '.'), ']', ''), '.'), '.')
$$;

-- Several parts of one text, as a list in JSON.
CREATE OR REPLACE FUNCTION json_extract(text, text, text, VARIADIC text[] DEFAULT '{}') RETURNS text LANGUAGE sql
IMMUTABLE PARALLEL SAFE AS $$
    SELECT json_agg(
        $1::json #> string_to_array(ltrim(replace(replace(substr(path, 2), '[', '.'), ']', ''), '.'), '.') ORDER BY n
    )::text
    FROM unnest(ARRAY[$2, $3] || $4) WITH ORDINALITY AS asked(path, n)
$$;

CREATE OR REPLACE FUNCTION json_number(text, text) RETURNS double precision LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT (json_extract($1, $2))::double precision
$$;

-- What `json_each` gives. A function's own columns would have the order of texts of the database, not of bytes.
CREATE TYPE json_entry AS (key text COLLATE "C", value text COLLATE "C");

CREATE OR REPLACE FUNCTION json_each(text) RETURNS SETOF json_entry LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT (n - 1)::text, item #>> '{}'
    FROM json_array_elements(CASE WHEN json_typeof($1::json) = 'array' THEN $1::json END) WITH ORDINALITY AS a(item, n)
    UNION ALL
    SELECT o.key, o.value FROM json_each_text(CASE WHEN json_typeof($1::json) = 'object' THEN $1::json END) AS o
$$;

CREATE OR REPLACE FUNCTION json_each(text, text) RETURNS SETOF json_entry LANGUAGE sql IMMUTABLE
PARALLEL SAFE AS $$
    SELECT e.key, e.value FROM json_each(json_extract($1, $2)) AS e
$$;

CREATE OR REPLACE FUNCTION json_valid(text) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT ($1::json) IS NOT NULL
$$;

CREATE OR REPLACE FUNCTION json_item(text, integer) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT $1::json ->> $2
$$;

CREATE OR REPLACE FUNCTION json_text(text, text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT ($1::json #> string_to_array(ltrim(substr($2, 2), '.'), '.'))::text
$$;

CREATE OPERATOR ->> (FUNCTION = json_extract, LEFTARG = text, RIGHTARG = text);
CREATE OPERATOR ->> (FUNCTION = json_item, LEFTARG = text, RIGHTARG = integer);
CREATE OPERATOR -> (FUNCTION = json_text, LEFTARG = text, RIGHTARG = text);

CREATE OR REPLACE FUNCTION instr(text, text) RETURNS integer LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT strpos($1, $2)
$$;

CREATE OR REPLACE FUNCTION iif(boolean, text, text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE WHEN $1 THEN $2 ELSE $3 END
$$;

CREATE OR REPLACE FUNCTION max(bigint, bigint) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE WHEN $1 IS NULL OR $2 IS NULL THEN NULL ELSE greatest($1, $2) END
$$;

-- Ends a query that found a series whose number of rows differs from its log.
CREATE OR REPLACE FUNCTION damaged_series(text, text) RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION USING ERRCODE = 'WB001', MESSAGE = 'damaged series', DETAIL = $1, HINT = $2;
END
$$;
