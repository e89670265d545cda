import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { sized } from "../../../scripts/test-size.js";
import { documentOnTheWire } from "./support/openapi.js";
import { serve } from "./support/serve.js";

const CLIENT = `
import type { components, operations, paths } from "./schema.js";

type Body<Responses, Status extends keyof Responses> = Responses[Status] extends {
  content: { "application/json": infer Content };
}
  ? Content
  : never;

type Pet = components["schemas"]["Pet"];
type List = paths["/pets"]["get"]["responses"];
type Create = operations["createPet"]["responses"];

export async function firstName(baseUrl: string, key: string): Promise<string | undefined> {
  const query: paths["/pets"]["get"]["parameters"]["query"] = { limit: 5, status: "available" };
  const parameters = new URLSearchParams({ limit: String(query.limit), status: "available" });
  const response = await fetch(baseUrl + "/pets?" + parameters.toString(), {
    headers: { authorization: "Bearer " + key },
  });
  if (response.status === 200) return ((await response.json()) as Body<List, 200>)[0]?.name;
  if (response.status === 429) {
    const error = (await response.json()) as Body<List, 429>;
    const status: 429 = error.status ?? 429;
    return error.code === "api_key_banned" ? "banned" : String(status);
  }
  return undefined;
}

export const newPet: components["schemas"]["NewPet"] = { name: "Rex", categoryId: 7 };
// @ts-expect-error: the name is required.
export const nameless: components["schemas"]["NewPet"] = { categoryId: 7 };
// @ts-expect-error: there is no such status.
export const lost: Pet["status"] = "lost";
// @ts-expect-error: an operation returns only its own codes.
export const other: Body<List, 401>["code"] = "pet_not_found";
`;

// In CI only: it compiles with TypeScript.
test.runIf(sized(0, 1, 1))(
  "types generated from the document compile against the server's responses",
  async () => {
    const { call, create } = await serve();
    const created = await create('{"name":"Rex","categoryId":7}');
    const listed = await call();
    const refused = await call({ key: null });
    const invalid = await create("{}");
    const missing = await call({ path: "/v1/pets/2" });

    const { default: openapiTypescript, astToString } = await import("openapi-typescript");
    const problems = await compile({
      "schema.ts": astToString(await openapiTypescript(documentOnTheWire as never)),
      "client.ts": `${CLIENT}
export const created: Body<Create, 201> = ${created.body};
export const listed: Body<List, 200> = ${listed.body};
export const refused: Body<List, 401> = ${refused.body};
export const invalid: Body<Create, 400> = ${invalid.body};
export const missing: Body<operations["getPet"]["responses"], 404> = ${missing.body};
`,
    });
    expect(problems).toEqual([]);
  },
  60_000,
);

/** Compiles files with every strict option. Returns the compiler's messages. */
async function compile(files: Readonly<Record<string, string>>): Promise<readonly string[]> {
  const { default: ts } = await import("typescript");
  const folder = mkdtempSync(join(tmpdir(), "petstore-openapi-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const paths = Object.entries(files).map(([name, text]) => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  });
  const program = ts.createProgram(paths, {
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
    lib: ["lib.es2022.d.ts", "lib.dom.d.ts"],
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    noEmit: true,
    // The compiler's own declarations need no check.
    skipDefaultLibCheck: true,
    types: [],
  });
  return ts
    .getPreEmitDiagnostics(program)
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, "\n"));
}
