export { runTokenController } from "./controller.ts";
export { expiryOf } from "./plan.ts";
export { type RemovedClientsDeps, recordRemovedClient } from "./removed-clients.ts";
export { claimedUid, isSameToken, tokenIn } from "./secret.ts";
