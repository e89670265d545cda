// Serves with several processes of one of the servers that the pet store is compared with, and prints the port once all
// of them listen:
//   node benchmarks/servers/cluster.js NAME WORKERS
import cluster from "node:cluster";

const [, , name = "", count = "1"] = process.argv;
if (cluster.isPrimary) {
  // As `petstore serve --workers` has it: each worker accepts for itself.
  cluster.schedulingPolicy = cluster.SCHED_NONE;
  cluster.setupPrimary({ silent: true });
  let listening = 0;
  cluster.on("listening", (_, { port }) => {
    listening += 1;
    if (listening === Number(count)) console.log(String(port));
  });
  for (let worker = 0; worker < Number(count); worker += 1) cluster.fork();
  process.on("SIGTERM", () => {
    for (const worker of Object.values(cluster.workers ?? {})) worker?.process.kill("SIGTERM");
  });
} else {
  await import(new URL(`${name}.js`, import.meta.url).href);
}
