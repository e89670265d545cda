/** @type {import("dependency-cruiser").IConfiguration} */
export default {
  forbidden: [
    {
      name: "no-cycle",
      severity: "error",
      comment: "Files in a cycle, be it of types, can only be understood all at once.",
      from: {},
      to: { circular: true },
    },
  ],
  options: {
    includeOnly: "(^|/)packages/[^/]+/src/",
    tsConfig: { fileName: "tsconfig.json" },
    // Counts type imports.
    tsPreCompilationDeps: true,
  },
};
