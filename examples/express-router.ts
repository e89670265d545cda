import express, { Router } from "express";
import { createPetStore } from "@petstore/core";
import { createNodeHandler } from "@petstore/http-adapter";

const store = createPetStore();
const api = Router().use(createNodeHandler(store));
const app = express();
app.use("/api", api); // Express cuts /api, the store takes /v1: its clients see /api/v1
app.get("/", (_, response) => void response.send("The host's own page."));
app.listen(Number(process.env["PORT"] ?? 3000), "127.0.0.1");

const issued = await store.keys.issue({ plan: "free", label: "acme" });
issued.map(({ secret }) => console.log(`Authorization: Bearer ${secret}`));
