// Puts the licence of a package that is bundled into this one beside the bundle: run in a package's
// folder, after its build, with the name of the other.
import { copyFileSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";

const [, , name = ""] = process.argv;
const folder = join("node_modules", name);
const license = readdirSync(folder).find((file) => file.startsWith("LICENSE"));
if (license === undefined) throw new Error(`${name} brings no licence`);
// Not under a name with "license" in it: pnpm would then leave out the package's own.
mkdirSync("dist/notices", { recursive: true });
copyFileSync(join(folder, license), `dist/notices/${name}.txt`);
