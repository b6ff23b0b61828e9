export { apiReference } from "./api-reference.ts";
