export default { serverExternalPackages: ["@petstore/storage-sqlite"], output: "standalone" };
