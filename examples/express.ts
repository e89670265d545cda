import express from "express";
import { createPetStore } from "@petstore/core";
import { createNodeHandler } from "@petstore/http-adapter";

const store = createPetStore();
const app = express();
app.use(createNodeHandler(store)); // before any body parser, so that ids stay exact
app.use(express.json());
app.get("/", (_, response) => void response.send("The host's own page."));
app.listen(Number(process.env["PORT"] ?? 3000), "127.0.0.1");

const issued = await store.keys.issue({ plan: "free", label: "acme" });
issued.map(({ secret }) => console.log(`Authorization: Bearer ${secret}`));
