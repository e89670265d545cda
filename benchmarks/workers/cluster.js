// Serves with several processes of one of the servers that the pet store is compared with:
//   node benchmarks/workers/cluster.js FILE WORKERS
import cluster from "node:cluster";
import { pathToFileURL } from "node:url";

const [, , file = "", workers = "1"] = process.argv;
if (cluster.isPrimary) {
  // As `petstore serve --workers` has it: each worker accepts for itself.
  cluster.schedulingPolicy = cluster.SCHED_NONE;
  for (let worker = 0; worker < Number(workers); worker += 1) cluster.fork();
  process.on("SIGTERM", () => {
    for (const worker of Object.values(cluster.workers ?? {})) worker?.process.kill("SIGTERM");
  });
} else {
  await import(pathToFileURL(file).href);
}
