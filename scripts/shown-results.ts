import { inspect } from "node:util";
import { Err, Ok } from "neverthrow";

/** Fails a test that gets the other half of a result: with what that is, and where, neither of which neverthrow shows. */
function fail(this: Err<unknown, unknown> | Ok<unknown, unknown>): never {
  const error = new Error(`Not the expected half of a result: ${inspect(this)}`);
  Error.captureStackTrace(error, fail);
  throw error;
}

Err.prototype._unsafeUnwrap = fail;
Ok.prototype._unsafeUnwrapErr = fail;
