export { followChanges } from "./changes.ts";
export { ApiError, get, isTransient, messageOf, post, send, unauthorizedEvent } from "./client.ts";
export { entriesOf } from "./entries.ts";
