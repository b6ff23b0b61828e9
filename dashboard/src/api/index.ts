export { followChanges } from "./changes.ts";
export { ApiError, get, post, send } from "./client.ts";
