// Generates a client of openapi.json with one generator, int64 as `number` or as `bigint`, beside the program for it.
import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";

const [generator, int64] = process.argv.slice(2);
const exact = int64 === "bigint";
const input = "openapi.json";
const program = generator.replace(/^@|\/.*/g, "");
const folder = `${int64}/${program}`;
mkdirSync(folder, { recursive: true });
cpSync(`${program}.ts`, `${folder}/client.ts`);

await {
  "openapi-typescript": async () => {
    const { default: generate, astToString } = await import("openapi-typescript");
    const { default: ts } = await import("typescript");
    const bigint = ts.factory.createKeywordTypeNode(ts.SyntaxKind.BigIntKeyword);
    const transform = ({ format }) => (exact && format === "int64" ? bigint : undefined);
    const made = await generate(new URL(input, import.meta.url), { transform });
    writeFileSync(`${folder}/made.ts`, astToString(made));
  },
  "@hey-api/openapi-ts": async () => {
    const { createClient } = await import("@hey-api/openapi-ts");
    const plugins = ["@hey-api/client-fetch", "@hey-api/sdk", "@hey-api/typescript"];
    if (exact) plugins.push({ name: "@hey-api/transformers", bigInt: true });
    await createClient({ input, output: `${folder}/made`, plugins });
  },
  orval: async () => {
    const { generate } = await import("orval");
    const override = { useBigInt: exact };
    await generate({ input, output: { target: `${folder}/made.ts`, client: "fetch", override } });
  },
  kubb: async () => {
    const { build } = await import("@kubb/core");
    const { pluginOas } = await import("@kubb/plugin-oas");
    const { pluginTs } = await import("@kubb/plugin-ts");
    const { pluginClient } = await import("@kubb/plugin-client");
    const types = pluginTs({ integerType: exact ? "bigint" : "number" });
    const client = pluginClient({ client: "fetch", dataReturnType: "full" });
    const plugins = [pluginOas({ generators: [] }), types, client];
    const output = { path: `${folder}/made` };
    const { error } = await build({
      config: { root: ".", input: { path: input }, output, plugins },
    });
    if (error) throw error;
  },
  "openapi-zod-client": async () => {
    const { generateZodClientFromOpenAPI } = await import("openapi-zod-client");
    const openApiDoc = JSON.parse(readFileSync(input, "utf8"));
    const options = { withDeprecatedEndpoints: true };
    await generateZodClientFromOpenAPI({ openApiDoc, distPath: `${folder}/made.ts`, options });
  },
}[generator]();
