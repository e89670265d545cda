import Koa from "koa";
import { createPetStore } from "@petstore/core";
import { createNodeHandler } from "@petstore/http-adapter";

const store = createPetStore();
const handle = createNodeHandler(store);
const app = new Koa();
app.use(async (context, next) => {
  context.respond = await new Promise<boolean>((resolve) => {
    context.res.once("close", () => resolve(false)); // the store has used Node's own response
    handle(context.req, context.res, () => resolve(true));
  });
  if (context.respond) await next();
});
app.use((context) => void (context.body = "The host's own page."));
app.listen(Number(process.env["PORT"] ?? 3000), "127.0.0.1");

const issued = await store.keys.issue({ plan: "free", label: "acme" });
issued.map(({ secret }) => console.log(`Authorization: Bearer ${secret}`));
