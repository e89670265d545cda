// A network between servers and PostgreSQL with a round trip of so many milliseconds, in a process of its own:
//   node benchmarks/postgres/slow-network.js PORT MILLISECONDS
import { connect, createServer } from "node:net";
import { listening } from "../http/servers/pets-table.js";

const [port, roundTrip] = process.argv.slice(2).map(Number);
if (port === undefined || roundTrip === undefined) throw new Error("PORT MILLISECONDS");

const server = createServer((client) => {
  const upstream = connect(port, "127.0.0.1");
  for (const [from, to] of /** @type {const} */ ([
    [client, upstream],
    [upstream, client],
  ])) {
    from.setNoDelay(true);
    from.on("data", (chunk) => setTimeout(() => to.write(chunk), roundTrip / 2));
    from.on("close", () => to.destroy());
    from.on("error", () => to.destroy());
  }
});
listening(server);
