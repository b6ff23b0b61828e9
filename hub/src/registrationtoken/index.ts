export { runTokenController } from "./controller.ts";
export { expiryOf } from "./plan.ts";
export { type RemovedClientsDeps, recordRemovedClient } from "./removed-clients.ts";
export { claimedUid, isSameToken, isWrittenByHub, tokenIn } from "./secret.ts";
