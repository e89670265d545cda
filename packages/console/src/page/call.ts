import type { CallName, Calls, ErrorBody, Output } from "../protocol.js";

/** Why a call has no result. */
export interface Problem {
  readonly message: string;
  /** Whether the same call may succeed later, by itself. */
  readonly isPassing: boolean;
}

export type CallResult<Name extends CallName> =
  | { readonly output: Output<Name>; readonly problem?: undefined }
  | { readonly output?: undefined; readonly problem: Problem };

/** A call that takes longer counts as failed, in milliseconds. */
const TIMEOUT = 20_000;

/** Calls the console. Secrets are in bodies only, never in a URL. */
export async function call<Name extends CallName>(
  name: Name,
  input: Calls[Name]["input"],
): Promise<CallResult<Name>> {
  try {
    const response = await fetch(`api/${name}`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(input),
      signal: AbortSignal.timeout(TIMEOUT),
    });
    if (response.headers.get("Content-Type") !== "application/json") {
      return failed("The login has ended. Reload this page to log in again.", false);
    }
    // eslint-disable-next-line @typescript-eslint/no-unsafe-assignment -- The handler has this type for the call.
    const body: Output<Name> & ErrorBody = await response.json();
    return response.ok ? { output: body } : failed(body.message, body.status >= 500);
  } catch {
    return failed("The console does not respond.", true);
  }
}

function failed(message: string, isPassing: boolean): { readonly problem: Problem } {
  return { problem: { message, isPassing } };
}
