// For hosts that import their routes while they build: the first request opens the store.
import { createFetchHandler } from "@petstore/http-adapter";
import { openStore } from "./store.js";

let handler;
export const handle = async (request) =>
  (await (handler ??= openStore().then((store) => createFetchHandler(store))))(request);
