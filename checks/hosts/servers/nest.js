import "reflect-metadata";
import { createNodeHandler } from "@petstore/http-adapter";
import { Module } from "@nestjs/common";
import { NestFactory } from "@nestjs/core";
import { openStore } from "./store.js";

class Application {}
Module({})(Application);

const application = await NestFactory.create(Application, { logger: ["error"] });
application.use(createNodeHandler(await openStore()));
await application.listen(Number(process.env.PORT), "127.0.0.1");
