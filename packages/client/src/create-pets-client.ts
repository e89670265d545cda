import type { ListPetsInput, NewPetInput, PetIdInput, Pets } from "@petstore/core";
import { ResultAsync } from "neverthrow";
import { call, type CallContext } from "./call.js";
import type { TransportError } from "./errors.js";
import type { ClientEvent } from "./events.js";
import { parseOptions, type PetsClientOptions } from "./options.js";
import { createQueue } from "./queue.js";
import { drawIdempotencyKey } from "./random.js";
import { createPet, getPet, listPets, type Operation } from "./wire/operations.js";

/** Options of one call. */
export interface CallOptions {
  /** Ends the call with `aborted`. A request that is under way may still be performed. */
  readonly signal?: AbortSignal | undefined;
  /** The longest time for the call with all waits, in seconds. Default: that of the client. */
  readonly deadlineSeconds?: number | undefined;
}

/** Options of `createPet`. */
export interface CreateCallOptions extends CallOptions {
  /** As in process: makes it safe to call again. Without one, only the call's own attempts are safe. */
  readonly idempotencyKey?: string | undefined;
}

type Remote = Pets<TransportError>;

/**
 * The operations of a client with an API key, over HTTP. All calls share one gate, which keeps the caller
 * within its limits. No call rejects.
 */
export interface PetsClient extends Remote {
  listPets(input?: ListPetsInput, options?: CallOptions): ReturnType<Remote["listPets"]>;
  createPet(input: NewPetInput, options?: CreateCallOptions): ReturnType<Remote["createPet"]>;
  /** @deprecated To be removed on 5 December 2030; list by status instead. */
  getPet(id: PetIdInput, options?: CallOptions): ReturnType<Remote["getPet"]>;
}

/**
 * Creates a client. Create one for each API key, and keep it: its gate knows how many requests are left.
 *
 * ```ts
 * const pets = createPetsClient({ baseUrl: "http://127.0.0.1:3000/v1", apiKey });
 * const listed = await pets.listPets({ status: "available" });
 * ```
 * @throws TypeError that names the option, if one is wrong.
 */
export function createPetsClient(options: PetsClientOptions = {}): PetsClient {
  const { maxInFlight, deadlineSeconds, onEvent, ...settings } = parseOptions(options);
  const { clock, random } = settings;
  const emit = (event: ClientEvent): void => {
    try {
      onEvent(event);
    } catch {
      // A listener cannot make a call fail.
    }
  };
  const context: CallContext = { ...settings, emit, queue: createQueue(clock, maxInFlight) };

  const perform = <T, E extends { readonly code: string }>(
    operation: Operation<T, E>,
    options: CallOptions,
  ) =>
    new ResultAsync(
      call(context, operation, options.deadlineSeconds ?? deadlineSeconds, options.signal),
    );
  return Object.freeze({
    listPets: (input = {}, options = {}) => perform(listPets(input), options),
    createPet: (input, options = {}) => {
      const { idempotencyKey } = options;
      const key = idempotencyKey ?? drawIdempotencyKey(random);
      return perform(createPet(input, key, idempotencyKey === undefined), options);
    },
    getPet: (id, options = {}) => perform(getPet(id), options),
  } satisfies PetsClient);
}
