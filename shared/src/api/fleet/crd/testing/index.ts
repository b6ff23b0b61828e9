export { asJsonSchema, rootOf, testCrds } from "./test-crds.ts";
