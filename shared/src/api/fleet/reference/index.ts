export { apiReference, referencePage } from "./api-reference.ts";
