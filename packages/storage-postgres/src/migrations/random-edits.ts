import type { Migration } from "./migration.js";

/** Makes `edits` random: two histories of a database, before and after a failover, must not share a value. */
export const randomEdits: Migration = {
  name: "random edits",
  breaking: false,
  statements: `
create or replace function :schema.count_edit() returns trigger language plpgsql as $body$
begin
  update :schema.inventory set edits = (random() * 9e18)::bigint;
  return null;
end $body$;
`,
};
