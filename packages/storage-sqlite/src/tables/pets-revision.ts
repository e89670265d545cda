import type { Connection } from "../connection.js";

/** The statement on the one row that tells the states of the table of animals apart. */
export interface PetsRevision {
  /** A number that is another one after every change; `undefined` when somebody removed it. */
  current(): number | undefined;
}

export function preparePetsRevision(connection: Connection): PetsRevision {
  const find = connection.prepare((queries) =>
    queries.selectFrom("pets_revision").select("revision"),
  );
  return { current: () => find.get({})?.revision };
}
