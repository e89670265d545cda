import { serve, type Served } from "../serve.js";

/** A server that the store owns, as `petstore serve` makes it. */
export function ownServer(): Promise<Served> {
  return serve();
}
