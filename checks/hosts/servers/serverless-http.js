// A gateway that makes an event of each request, as that of AWS Lambda does, in front of serverless-http.
import { createServer } from "node:http";
import { buffer } from "node:stream/consumers";
import { createNodeHandler } from "@petstore/http-adapter";
import serverless from "serverless-http";
import { openStore } from "./store.js";

const handle = serverless(createNodeHandler(await openStore()));

createServer(async (request, response) => {
  const received = await buffer(request).catch(() => undefined);
  if (received === undefined) return;
  const { pathname, searchParams } = new URL(request.url ?? "", "http://gateway.test");
  const event = {
    version: "2.0",
    rawPath: pathname,
    rawQueryString: String(searchParams),
    headers: request.headers,
    requestContext: { http: { method: request.method, path: pathname, sourceIp: "127.0.0.1" } },
    body: received.toString("base64"),
    isBase64Encoded: true,
  };
  const { statusCode, headers, body, isBase64Encoded } = await handle(event, {});
  response.writeHead(statusCode, headers);
  response.end(Buffer.from(body, isBase64Encoded ? "base64" : "utf8"));
}).listen(Number(process.env.PORT), "127.0.0.1");
