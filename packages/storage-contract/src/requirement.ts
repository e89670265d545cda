import assert from "node:assert/strict";
import type { Storage, StorageError } from "@petstore/core/storage";
import type { Result } from "neverthrow";
import { allPets, listKeys, valueOf } from "./calls.js";
import { createProcesses, type StartProcess, type StorageModule } from "./processes.js";
import { firstPage } from "./samples.js";

/** One requirement of the storage port, with the check that a storage meets it. */
export interface StorageRequirement {
  /** The requirement as a sentence without its subject, which is the storage. */
  readonly name: string;
  /** The feature that the check needs. The requirement does not apply to a storage without it. */
  readonly needs: StorageFeature | undefined;
  /**
   * Rejects with an `AssertionError` when the storage, which has no data, does not meet it. Only a requirement that needs
   * a feature opens others on the same data, in this process or in processes of their own.
   */
  check(storage: Storage, open: () => Promise<Storage>, start: StartProcess): Promise<void>;
}

/** Checks, by what they check: a sentence without its subject, which is the storage. */
export type Requirements = Readonly<Record<string, StorageRequirement["check"]>>;

export type RequirementsOf<Port> = { readonly [Member in keyof Port]-?: Requirements };

export type CallsOf<Port> = (storage: Storage) => { readonly [Member in keyof Port]-?: Call };
export type Call = () => Promise<Result<unknown, StorageError>>;

/**
 * A feature that not every storage has. `reopening`: its data is still there when it is opened again.
 * `sharing`: several storages can be open on the same data at the same time. `processes`: and in several
 * processes, each of which imports the storage's module.
 */
export type StorageFeature = "reopening" | "sharing" | "processes";

/** Where a storage under test keeps its data: a file, a schema, an object in memory. */
export interface Fixture {
  /** Opens a storage. Every call opens the same data, if the storage supports it. */
  open(): Promise<Storage>;
  /** Passed to the storage's module, as JSON, to open a storage on the same data in another process. */
  readonly options?: unknown;
  /** Removes the data. Called once, after every storage on it is closed. */
  remove(): Promise<void>;
}

export interface TestedStorage {
  /** Creates a new, empty fixture. Called once for each requirement. */
  createFixture(): Promise<Fixture>;
  /** Opens the storage in other processes. Without it, requirements on several processes are skipped. */
  readonly module?: StorageModule;
  /** The features that this storage does not support, each with the reason. */
  readonly unsupported?: Readonly<Partial<Record<StorageFeature, string>>>;
}

/**
 * Checks one requirement on a new fixture. Rejects when the storage does not meet it, or if afterwards a storage that
 * was open all the time, or is opened again, shows other pets, keys and usage.
 */
export async function checkRequirement(
  requirement: StorageRequirement,
  storage: TestedStorage,
): Promise<void> {
  const fixture = await storage.createFixture();
  const { module, unsupported = {} } = storage;
  const opened: Storage[] = [];
  const open = async () => {
    const fresh = await fixture.open();
    opened.push(fresh);
    return fresh;
  };
  const processes = createProcesses(module, fixture.options);
  try {
    const first = await open();
    // What the second one shows now, it must not keep.
    if (unsupported.sharing === undefined) await contentOf(await open());
    await requirement.check(first, open, processes.start);
    await processes.end();
    const [content, ...others] = await contentsOf(opened);
    for (const other of others) assert.deepEqual(other, content, "two storages show other data");
    if (content === undefined || unsupported.reopening !== undefined) return;
    for (const each of opened) await each.close();
    assert.deepEqual(await contentOf(await open()), content, "opened again, it shows other data");
  } finally {
    await processes.end();
    for (const each of opened) await each.close();
    await fixture.remove();
  }
}

/** Of each that is still open. */
async function contentsOf(storages: readonly Storage[]) {
  const contents = await Promise.all(storages.map(contentOf));
  return contents.filter((content) => content !== undefined);
}

async function contentOf(storage: Storage) {
  if ((await storage.pets.list(firstPage)).isErr()) return undefined;
  const keys = await listKeys(storage);
  const byDigest: unknown[] = [];
  for (const { digest } of keys.flatMap(({ key }) => key.secrets))
    byDigest.push(await valueOf(storage.usage.findByDigest(digest)));
  return { pets: await allPets(storage), keys, byDigest };
}
