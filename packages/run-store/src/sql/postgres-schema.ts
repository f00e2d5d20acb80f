/**
 * Tables and functions on Postgres 13 or newer, made by one statement that may run in many processes at once.
 *
 * What looks before it writes is a function, so that it is one round trip and one transaction over anything that has a
 * `query` method, a pool as well. Every function holds a lock on its key. `p_now` null means the server's clock.
 */
export function createSchema(prefix: string): string {
  return `
DO $setup$
BEGIN
PERFORM pg_advisory_xact_lock(hashtextextended('${prefix}setup', 0));

CREATE TABLE IF NOT EXISTS ${prefix}runs (
  id bigint GENERATED ALWAYS AS IDENTITY,
  key text NOT NULL,
  slot text NOT NULL,
  value bytea NOT NULL,
  expires_at bigint,
  tenant text,
  principal text,
  kind text,
  entry bytea,
  claim_token text,
  fence bigint,
  lease_until bigint,
  PRIMARY KEY (key, slot)
);
CREATE INDEX IF NOT EXISTS ${prefix}runs_expiry ON ${prefix}runs (expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX IF NOT EXISTS ${prefix}runs_tenant ON ${prefix}runs (tenant, principal, id) WHERE tenant IS NOT NULL;
CREATE TABLE IF NOT EXISTS ${prefix}run_cells (key text PRIMARY KEY, value bytea NOT NULL, expires_at bigint);
CREATE TABLE IF NOT EXISTS ${prefix}run_outcomes (
  key text PRIMARY KEY, token text NOT NULL, value bytea, expires_at bigint NOT NULL
);
CREATE TABLE IF NOT EXISTS ${prefix}run_releases (key text PRIMARY KEY, token text NOT NULL, expires_at bigint);
CREATE SEQUENCE IF NOT EXISTS ${prefix}run_fence;

CREATE OR REPLACE FUNCTION ${prefix}at(p_now bigint) RETURNS bigint LANGUAGE sql VOLATILE AS
  'SELECT coalesce(p_now, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint)';

CREATE OR REPLACE FUNCTION ${prefix}live_run(p_key text, p_slot text, p_at bigint) RETURNS ${prefix}runs
LANGUAGE sql VOLATILE AS
  'SELECT * FROM ${prefix}runs WHERE key = p_key AND slot = p_slot AND (expires_at IS NULL OR expires_at > p_at) FOR UPDATE';

CREATE OR REPLACE FUNCTION ${prefix}put_if_absent(
  p_now bigint, p_key text, p_value bytea, p_ttl bigint, p_stamp_bytes int,
  p_tenant text, p_principal text, p_kind text, p_entry bytea
) RETURNS boolean LANGUAGE plpgsql AS $fn$
DECLARE at bigint := ${prefix}at(p_now); present ${prefix}runs;
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended(p_key, 0));
  present := ${prefix}live_run(p_key, 'v', at);
  IF present.key IS NULL THEN present := ${prefix}live_run(p_key, 'w', at); END IF;
  IF present.key IS NOT NULL THEN
    RETURN substring(present.value FROM 1 FOR p_stamp_bytes) = substring(p_value FROM 1 FOR p_stamp_bytes);
  END IF;
  INSERT INTO ${prefix}runs AS run (key, slot, value, expires_at, tenant, principal, kind, entry)
    VALUES (p_key, 'v', p_value, at + p_ttl, p_tenant, p_principal, p_kind, p_entry)
    ON CONFLICT (key, slot) DO UPDATE SET value = excluded.value, expires_at = excluded.expires_at,
      tenant = excluded.tenant, principal = excluded.principal, kind = excluded.kind, entry = excluded.entry
    WHERE run.expires_at <= at;
  RETURN FOUND;
END $fn$;

CREATE OR REPLACE FUNCTION ${prefix}take(
  p_now bigint, p_key text, p_token text, p_retain bigint, p_stamp bytea, p_cell_counts text, p_cell bytea
) RETURNS bytea LANGUAGE plpgsql AS $fn$
DECLARE at bigint := ${prefix}at(p_now); run ${prefix}runs; held bytea;
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended(p_key, 0));
  run := ${prefix}live_run(p_key, 't:' || p_token, at);
  IF run.key IS NOT NULL THEN RETURN run.value; END IF;
  run := ${prefix}live_run(p_key, 'v', at);
  IF run.key IS NULL THEN
    run := ${prefix}live_run(p_key, 'w', at);
    IF run.key IS NULL OR run.lease_until > at THEN RETURN NULL; END IF;
  END IF;
  IF p_stamp IS NOT NULL AND substring(run.value FROM 1 FOR length(p_stamp)) <> p_stamp THEN RETURN NULL; END IF;
  SELECT value INTO held FROM ${prefix}run_cells WHERE key = p_key AND (expires_at IS NULL OR expires_at > at);
  IF p_cell_counts = 'empty' AND held IS NOT NULL THEN RETURN NULL; END IF;
  IF p_cell_counts = 'is' AND held IS DISTINCT FROM p_cell THEN RETURN NULL; END IF;
  DELETE FROM ${prefix}runs WHERE key = p_key AND slot = 't:' || p_token;
  UPDATE ${prefix}runs SET slot = 't:' || p_token, expires_at = at + p_retain, lease_until = expires_at, claim_token = NULL
    WHERE key = p_key AND slot = run.slot;
  UPDATE ${prefix}run_cells SET expires_at = at + p_retain WHERE key = p_key;
  RETURN run.value;
END $fn$;

CREATE OR REPLACE FUNCTION ${prefix}put_back(p_now bigint, p_key text, p_token text)
RETURNS boolean LANGUAGE plpgsql AS $fn$
DECLARE at bigint := ${prefix}at(p_now); copy ${prefix}runs; waits ${prefix}runs;
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended(p_key, 0));
  copy := ${prefix}live_run(p_key, 't:' || p_token, at);
  waits := ${prefix}live_run(p_key, 'v', at);
  IF copy.key IS NULL OR waits.key IS NOT NULL THEN RETURN false; END IF;
  DELETE FROM ${prefix}runs WHERE key = p_key AND slot = 'v';
  -- A copy has no lease: the column keeps when the run would have been over.
  UPDATE ${prefix}runs SET slot = 'v', expires_at = lease_until, lease_until = NULL WHERE key = p_key AND slot = copy.slot;
  RETURN true;
END $fn$;

CREATE OR REPLACE FUNCTION ${prefix}claim(p_now bigint, p_key text, p_token text, p_lease bigint, p_stamp bytea)
RETURNS TABLE (kind text, bytes bytea, detail bigint) LANGUAGE plpgsql AS $fn$
DECLARE at bigint := ${prefix}at(p_now); held ${prefix}runs; run ${prefix}runs; outcome bytea; next bigint;
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended(p_key, 0));
  held := ${prefix}live_run(p_key, 'w', at);
  IF held.key IS NOT NULL AND held.lease_until > at THEN
    IF held.claim_token = p_token THEN RETURN QUERY SELECT 'claimed', held.value, held.fence;
    ELSE RETURN QUERY SELECT 'held', NULL::bytea, held.lease_until - at; END IF;
    RETURN;
  END IF;
  run := ${prefix}live_run(p_key, 'v', at);
  IF run.key IS NULL THEN run := held; END IF;
  IF run.key IS NULL THEN
    SELECT o.value INTO outcome FROM ${prefix}run_outcomes o WHERE o.key = p_key AND o.expires_at > at;
    IF outcome IS NULL THEN RETURN QUERY SELECT 'missing', NULL::bytea, 0::bigint;
    ELSE RETURN QUERY SELECT 'settled', outcome, 0::bigint; END IF;
    RETURN;
  END IF;
  IF p_stamp IS NOT NULL AND substring(run.value FROM 1 FOR length(p_stamp)) <> p_stamp THEN
    RETURN QUERY SELECT 'missing', NULL::bytea, 0::bigint;
    RETURN;
  END IF;
  next := nextval('${prefix}run_fence');
  IF run.slot = 'v' THEN DELETE FROM ${prefix}runs r WHERE r.key = p_key AND r.slot = 'w'; END IF;
  UPDATE ${prefix}runs r SET slot = 'w', claim_token = p_token, fence = next, lease_until = at + p_lease,
    expires_at = CASE WHEN r.expires_at IS NULL THEN NULL ELSE greatest(r.expires_at, at + 2 * p_lease) END
    WHERE r.key = p_key AND r.slot = run.slot;
  DELETE FROM ${prefix}run_releases r WHERE r.key = p_key;
  RETURN QUERY SELECT 'claimed', run.value, next;
END $fn$;

CREATE OR REPLACE FUNCTION ${prefix}release(p_now bigint, p_key text, p_token text)
RETURNS text LANGUAGE plpgsql AS $fn$
DECLARE at bigint := ${prefix}at(p_now); held ${prefix}runs; waits ${prefix}runs;
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended(p_key, 0));
  held := ${prefix}live_run(p_key, 'w', at);
  IF held.key IS NULL OR held.claim_token <> p_token THEN
    PERFORM 1 FROM ${prefix}run_releases WHERE key = p_key AND token = p_token;
    RETURN CASE WHEN FOUND THEN 'ok' ELSE 'stale' END;
  END IF;
  waits := ${prefix}live_run(p_key, 'v', at);
  IF waits.key IS NOT NULL THEN DELETE FROM ${prefix}runs WHERE key = p_key AND slot = 'w';
  ELSE
    DELETE FROM ${prefix}runs WHERE key = p_key AND slot = 'v';
    UPDATE ${prefix}runs SET slot = 'v', claim_token = NULL, lease_until = NULL WHERE key = p_key AND slot = 'w';
  END IF;
  INSERT INTO ${prefix}run_releases VALUES (p_key, p_token, held.expires_at)
    ON CONFLICT (key) DO UPDATE SET token = excluded.token, expires_at = excluded.expires_at;
  RETURN 'ok';
END $fn$;
END $setup$`;
}
