// Puts the docs page into the built command. Swagger UI is copied, since whoever installs
// swagger-ui-dist also installs @scarf/scarf, which reports the installation to its makers.
import { copyFileSync, cpSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";

const cli = new URL("../packages/cli/", import.meta.url);
const target = new URL("dist/docs/", cli);
const { resolve } = createRequire(new URL("package.json", cli));

cpSync(new URL("src/serve/docs/page/", cli), target, { recursive: true });
for (const [name, copy = name] of [
  ["swagger-ui.css"],
  ["swagger-ui-bundle.js"],
  ["swagger-ui-bundle.js.LICENSE.txt"],
  ["LICENSE", "swagger-ui.LICENSE.txt"],
  ["NOTICE", "swagger-ui.NOTICE.txt"],
]) {
  copyFileSync(resolve(`swagger-ui-dist/${name}`), fileURLToPath(new URL(String(copy), target)));
}
