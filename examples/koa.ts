import Koa from "koa";
import { createPetStore } from "@petstore/core";
import { createKoaMiddleware } from "@petstore/http-adapter";

const store = createPetStore();
const app = new Koa();
app.use(createKoaMiddleware(store)); // before any body parser, so that ids stay exact
app.use((context) => void (context.body = "The host's own page."));
app.listen(Number(process.env["PORT"] ?? 3000), "127.0.0.1");

const issued = await store.keys.issue({ plan: "free", label: "acme" });
issued.map(({ secret }) => console.log(`Authorization: Bearer ${secret}`));
