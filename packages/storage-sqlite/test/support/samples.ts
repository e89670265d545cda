export * from "../../../storage-sql/test/support/samples.js";
