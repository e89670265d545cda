import { createFetchHandler } from "@petstore/http-adapter";
import { H3, serve } from "h3";
import { openStore } from "./store.js";

const handle = createFetchHandler(await openStore());
const application = new H3().all("/v1/**", ({ req }) => handle(req));
serve(application, { hostname: "127.0.0.1", port: Number(process.env.PORT) });
