import comments from "@eslint-community/eslint-plugin-eslint-comments/configs";
import js from "@eslint/js";
import { defineConfig } from "eslint/config";
import tseslint from "typescript-eslint";
import { arrows } from "./eslint.arrows.js";

const sources = ["packages/*/src/**"];
const tests = ["**/*.test.{js,ts}", "packages/*/test/**"];

const time = [
  "NewExpression[callee.name='Date'][arguments.length=0]",
  "CallExpression[callee.name='Date']",
  "MemberExpression[object.name='Date'][property.name='now']",
  "MemberExpression[object.name='performance']",
  "MemberExpression[object.name='process'][property.name='hrtime']",
].map((selector) => ({
  selector,
  message:
    "Time arrives as an argument: only clock.ts of core and client reads it, so that a test can move it.",
}));

// Somebody else's package may be loaded late, by its plain name.
const lazyImport = {
  selector: "ImportExpression:not([source.value=/^[a-z]/])",
  message:
    "A lazy import escapes the rules on who may import whom: import what is ours at the top.",
};

const randomness = "Randomness arrives as an argument: only random.ts of core and client draws it.";
const randomFunctions = [
  "getRandomValues",
  "randomBytes",
  "randomFill",
  "randomFillSync",
  "randomInt",
  "randomUUID",
  "webcrypto",
];
const randomProperties = [
  { object: "Math", property: "random", message: randomness },
  ...randomFunctions.map((property) => ({ object: "crypto", property, message: randomness })),
];

const newerThanFetch = {
  object: "URL",
  property: "canParse",
  message: "The client runs wherever there is `fetch`, which browsers had long before this.",
};

export default defineConfig(
  // pnpm's own file: a change of it, even of a comment, changes the lockfile.
  {
    ignores: [
      "**/dist/",
      "**/coverage/",
      ".stryker/",
      ".pnpmfile.cjs",
      "packages/console/page-files.js",
      // Programs for other people's tools, which are not installed here.
      "checks/clients/",
      "checks/hosts/",
    ],
  },
  js.configs.recommended,
  tseslint.configs.strictTypeChecked,
  tseslint.configs.stylisticTypeChecked,
  comments.recommended,
  {
    languageOptions: {
      parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname },
    },
    linterOptions: { reportUnusedDisableDirectives: "error" },
    rules: {
      "@eslint-community/eslint-comments/require-description": "error",
      // An interface for a port, a type for data: both have their place.
      "@typescript-eslint/consistent-type-definitions": "off",
      "@typescript-eslint/consistent-type-exports": "error",
      "@typescript-eslint/consistent-type-imports": "error",
      // getPet works until its release comes: here it is called, and these objects provide it.
      "@typescript-eslint/no-deprecated": [
        "error",
        {
          allow: [
            {
              from: "file",
              name: ["getPet", "Caller", "PetOperations", "PetsClient", "TrustedPets"],
            },
          ],
        },
      ],
      "@typescript-eslint/no-confusing-void-expression": ["error", { ignoreArrowShorthand: true }],
      // A ResultAsync is a thenable: a dropped one is a dropped failure.
      "@typescript-eslint/no-floating-promises": ["error", { checkThenables: true }],
      "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true }],
      "@typescript-eslint/switch-exhaustiveness-check": "error",
      eqeqeq: "error",
    },
  },
  {
    // An example shows the errors that its reader has to handle.
    files: ["examples/**"],
    rules: {
      "@typescript-eslint/switch-exhaustiveness-check": [
        "error",
        { considerDefaultExhaustiveForUnions: true },
      ],
    },
  },
  {
    files: sources,
    ignores: tests,
    rules: {
      "@typescript-eslint/consistent-type-assertions": ["error", { assertionStyle: "never" }],
      "@typescript-eslint/no-restricted-imports": [
        "error",
        ...["crypto", "node:crypto"].map((name) => ({
          name,
          importNames: ["default", ...randomFunctions],
          message: randomness,
        })),
      ],
      // A warning to think, not a reason to fail.
      "max-lines": ["warn", { max: 250 }],
      "max-lines-per-function": ["warn", { max: 50 }],
      "no-console": "error",
      "no-restricted-properties": ["error", ...randomProperties],
      "no-restricted-syntax": ["error", lazyImport, ...time],
    },
  },
  { files: ["packages/cli/src/**"], rules: { "no-console": "off" } },
  // A component is long because of its markup.
  { files: ["**/*.tsx"], rules: { "max-lines-per-function": ["warn", { max: 100 }] } },
  {
    // Timeouts are measured by a clock that is never set: each storage reads it in one file.
    files: ["packages/{core,client}/src/clock.ts", "packages/storage-*/src/commit/retry.ts"],
    rules: { "no-restricted-syntax": ["error", lazyImport] },
  },
  {
    files: ["packages/client/src/**"],
    rules: { "no-restricted-properties": ["error", ...randomProperties, newerThanFetch] },
  },
  {
    files: ["packages/{core,client}/src/random.ts"],
    rules: { "@typescript-eslint/no-restricted-imports": "off", "no-restricted-properties": "off" },
  },
  arrows,
  {
    files: ["**/*.js"],
    rules: {
      // A JSDoc type is the only way to say what JSON.parse returns.
      "@typescript-eslint/no-unsafe-assignment": "off",
      "@typescript-eslint/no-unsafe-return": "off",
      // TypeScript checks these files too, and knows the names better.
      "no-undef": "off",
    },
  },
);
