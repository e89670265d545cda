import type { Storage, StorageError } from "@petstore/core/storage";
import type { Result } from "neverthrow";
import { createProcesses, type StartProcess, type StorageModule } from "./processes.js";

/** One requirement of the storage port, with the check that a storage meets it. */
export interface StorageRequirement {
  /** The requirement as a sentence without its subject, which is the storage. */
  readonly name: string;
  /** The feature that the check needs. The requirement does not apply to a storage without it. */
  readonly needs?: StorageFeature;
  /** Rejects with an `AssertionError` when the storage does not meet the requirement. */
  check(open: OpenStorage, start: StartProcess): Promise<void>;
}

/** Checks, by what they check: a sentence without its subject, which is the storage. */
export type Requirements = Readonly<Record<string, StorageRequirement["check"]>>;

/** The requirements on each member of a port. */
export type RequirementsOf<Port> = { readonly [Member in keyof Port]-?: Requirements };

/** Creates a call of each member of a port. */
export type CallsOf<Port> = (storage: Storage) => { readonly [Member in keyof Port]-?: Call };
export type Call = () => Promise<Result<unknown, StorageError>>;

/**
 * A feature that not every storage has. `reopening`: its data is still there when it is opened again.
 * `sharing`: several storages can be open on the same data at the same time. `processes`: and in several
 * processes, each of which imports the storage's module.
 */
export type StorageFeature = "reopening" | "sharing" | "processes";

/**
 * Opens the storage. The first call opens an empty one. Only a requirement that needs a feature calls it
 * again, and gets a storage on the same data.
 */
export type OpenStorage = () => Promise<Storage>;

/** Where a storage under test keeps its data: a file, a schema, an object in memory. */
export interface Fixture {
  /** Opens a storage. Every call opens the same data, if the storage supports it. */
  open(): Promise<Storage>;
  /** Passed to the storage's module, as JSON, to open a storage on the same data in another process. */
  readonly options?: unknown;
  /** Removes the data. Called once, after every storage on it is closed. */
  remove(): Promise<void>;
}

/** Checks one requirement on a new fixture. Rejects when the storage does not meet it. */
export async function checkRequirement(
  requirement: StorageRequirement,
  storage: { createFixture(): Promise<Fixture>; readonly module?: StorageModule },
): Promise<void> {
  const fixture = await storage.createFixture();
  const opened: Storage[] = [];
  const processes = createProcesses(storage.module, fixture.options);
  try {
    await requirement.check(async () => {
      const fresh = await fixture.open();
      opened.push(fresh);
      return fresh;
    }, processes.start);
  } finally {
    await processes.end();
    for (const each of opened) await each.close();
    await fixture.remove();
  }
}
