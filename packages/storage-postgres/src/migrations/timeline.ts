import type { Migration } from "./migration.js";

/** Remembers the timeline of the server, which changes when a standby takes over or a backup is restored. */
export const timeline: Migration = {
  name: "timeline",
  breaking: false,
  statements: `
-- Managed services may not let everyone read the log's position.
create function :schema.current_timeline() returns text language plpgsql as $body$
begin
  return left(pg_walfile_name(pg_current_wal_insert_lsn()), 8);
exception when others then
  return '';
end $body$;
alter table :schema.inventory add column timeline text not null default '';
update :schema.inventory set timeline = :schema.current_timeline();
`,
};
