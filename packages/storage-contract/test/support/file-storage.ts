// A storage in a file that several processes share: the memory storage, and a log of all changes, one in each line.
import { appendFileSync, mkdirSync, readFileSync, rmdirSync, statSync } from "node:fs";
import { deserialize, serialize } from "node:v8";
import { createMemoryStorage } from "@petstore/core";
import { storageError, type Decide, type PresentedKey } from "@petstore/core/storage";
import type { Storage, StorageError } from "@petstore/core/storage";
import { err, Result } from "neverthrow";

export interface FileOptions {
  readonly file: string;
  /** What the storage does wrong: changes the file without a lock and in pieces, or only when it is closed. */
  readonly fault?: "no transactions" | "late writes" | undefined;
}

type Call<T> = Promise<Result<T, StorageError>>;

/** The port, the member and the arguments of a call, or the id and what a decision stores for it. */
type Change = readonly [port: string, member: string, ...args: unknown[]];

/** Opens the storage. Other processes import this module. */
export function openStorage({ file, fault }: FileOptions): Promise<Storage> {
  let memory = createMemoryStorage();
  let position = 0;
  let isOpen = true;
  const late: string[] = [];

  const read = <T>(call: (memory: Storage) => Call<T>): Call<T> => {
    if (!isOpen) return Promise.resolve(err(storageError("closed")));
    const bytes = readFileSync(file, { flag: "a+" });
    if (position < 0) [memory, position] = [createMemoryStorage(), 0];
    const end = Math.max(position, bytes.lastIndexOf("\n") + 1);
    for (const line of bytes.toString("latin1", position, end).split("\n").slice(0, -1))
      replay(memory, deserialize(Buffer.from(line, "base64")) as Change);
    position = end;
    return call(memory);
  };
  const append = (change: Change): void => {
    const line = `${serialize(change).toString("base64")}\n`;
    if (fault === "late writes") return void late.push(line);
    appendFileSync(file, line);
    // If another process wrote in between, everything is read again.
    position = statSync(file).size === position + line.length ? position + line.length : -1;
  };
  const change = <T>(call: (memory: Storage) => Call<T>, changes: readonly Change[]) => {
    const run = () => {
      const result = read(call);
      for (const [index, each] of (isOpen ? changes : []).entries()) {
        // Long enough for another process to write.
        if (fault === "no transactions" && index < 20) pause();
        append(each);
      }
      return result;
    };
    return fault === "no transactions" ? run() : locked(`${file}.lock`, run);
  };
  /** Stores what a decision changes: the state with this id, or that of the key which was shown. */
  const decide = <Shown, State, T>(
    port: "keys" | "usage",
    id: string | undefined,
    decision: Decide<Shown, State, T>,
    call: (memory: Storage, decide: Decide<Shown, State, T>) => Call<T>,
  ): Call<T> => {
    const changes: Change[] = [];
    const idOf = (shown: unknown) => id ?? (shown as PresentedKey).key.id;
    const deciding: Decide<Shown, State, T> = (shown) => {
      const decided = decision(shown);
      if (decided.next && shown) changes.push([port, "update", idOf(shown), decided.next]);
      return decided;
    };
    return change((memory) => call(memory, deciding), changes);
  };
  /** With a fault, many are changed one after the other. */
  const each = (port: string, member: string, all: readonly unknown[]) => {
    const parts = fault === undefined ? [all] : all.map((one) => [one]);
    return parts.map((part): Change => [port, member, part]);
  };
  const changesOfPets = Object.fromEntries(
    Object.keys(memory.pets).map((member) => [
      member,
      (...args: unknown[]) =>
        change((memory) => callOf(memory, "pets", member, args), [["pets", member, ...args]]),
    ]),
  ) as unknown as Storage["pets"];
  return Promise.resolve({
    pets: {
      ...changesOfPets,
      import: (pets) => change((memory) => memory.pets.import(pets), each("pets", "import", pets)),
      find: (id) => read((memory) => memory.pets.find(id)),
      list: (query) => read((memory) => memory.pets.list(query)),
    },
    keys: {
      insert: (key) => change((memory) => memory.keys.insert(key), [["keys", "insert", key]]),
      import: (keys) => change((memory) => memory.keys.import(keys), each("keys", "import", keys)),
      find: (id) => read((memory) => memory.keys.find(id)),
      list: (query) => read((memory) => memory.keys.list(query)),
      update: (id, decision) =>
        decide("keys", id, decision, (memory, decide) => memory.keys.update(id, decide)),
      remove: (ids) => change((memory) => memory.keys.remove(ids), each("keys", "remove", ids)),
    },
    usage: {
      charge: (digest, decision) =>
        decide("usage", undefined, decision, (memory, work) => memory.usage.charge(digest, work)),
      findByDigest: (digest) => read((memory) => memory.usage.findByDigest(digest)),
      update: (id, decision) =>
        decide("usage", id, decision, (memory, decide) => memory.usage.update(id, decide)),
    },
    close: () => {
      isOpen = false;
      late.splice(0).forEach((line) => appendFileSync(file, line));
      return memory.close();
    },
  });
}

/** The memory storage makes a change before its call returns. */
function replay(memory: Storage, [port, member, ...args]: Change): void {
  const [id, next] = args;
  void callOf(memory, port, member, member === "update" ? [id, () => ({ next })] : args);
}

function callOf(memory: Storage, port: string, member: string, args: unknown[]): Call<unknown> {
  type Members = Record<string, (...args: unknown[]) => Call<unknown>>;
  const call = (memory as unknown as Record<string, Members>)[port]?.[member];
  if (call === undefined) throw new Error(`No member is called ${port}.${member}.`);
  return call(...args);
}

function locked<T>(lock: string, call: () => Call<T>): Call<T> {
  // Not recursive, which also fails if another process removes the folder meanwhile.
  for (let tries = 1; Result.fromThrowable(mkdirSync)(lock).isErr(); tries += 1) {
    if (tries === 1_000) return Promise.resolve(err(storageError("It is locked.")));
    pause();
  }
  try {
    return call();
  } finally {
    rmdirSync(lock);
  }
}

const pause = () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
