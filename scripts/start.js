// Builds, then becomes `petstore <arguments>`: one process, so that a signal reaches the server.
import { run } from "./run.js";

const built = await run("npm", ["run", "--silent", "build"]);

if (built === 0) await import("../packages/cli/bin/petstore.js");
else process.exitCode = built;
