/**
 * The part of a pg `Pool` that this package uses. Its users therefore do not need the types of pg; a
 * host's own `Pool` has this type.
 */
export interface PostgresPool {
  connect(): Promise<PostgresClient>;
  end(): Promise<void>;
  on(event: "error", listener: (error: Error) => void): unknown;
  on(event: "connect", listener: (client: PostgresClient) => void): unknown;
  off(event: "error", listener: (error: Error) => void): unknown;
  off(event: "connect", listener: (client: PostgresClient) => void): unknown;
}

/** The part of a pg `PoolClient` that this package uses. */
export interface PostgresClient {
  // eslint-disable-next-line @typescript-eslint/no-unnecessary-type-parameters -- As in pg: the caller knows what its query selects.
  query<Row>(query: PostgresQuery): Promise<{ readonly rows: Row[] }>;
  /** Returns the connection to the pool; with `true`, closes it. */
  release(destroy?: boolean): void;
  on(event: "error", listener: (error: Error) => void): unknown;
  off(event: "error", listener: (error: Error) => void): unknown;
}

/** A query whose rows come as arrays, and whose values are read as `types` says. */
export interface PostgresQuery {
  readonly text: string;
  /** With a name, the server keeps the parsed statement for the connection. */
  readonly name?: string | undefined;
  readonly values?: unknown[] | undefined;
  readonly rowMode: "array";
  readonly types: PostgresTypes;
}

/** Returns the function that reads the text of a value, by the id of its type. */
export interface PostgresTypes {
  getTypeParser(type: number): (text: string) => unknown;
}
