// The ceiling: node:http answering the same bytes again and again.
import { createServer } from "node:http";
import { listening } from "./pets-table.js";

const page = Array.from({ length: 20 }, (_, index) => ({
  id: index + 1,
  name: `pet ${index}`,
  categoryId: index,
  status: "available",
}));
const body = JSON.stringify(page);
const headers = { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(body) };

listening(
  createServer((_, response) => {
    response.writeHead(200, headers);
    response.end(body);
  }),
);
