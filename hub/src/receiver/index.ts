export { clientAddress } from "./client-address.ts";
export { createReceiverController } from "./controller.ts";
export { createReceivers } from "./create-receivers.ts";
export { readBody } from "./read-body.ts";
export { createReconcileRequests } from "./request-reconciles.ts";
export { receiverRoute, retryHeaders } from "./route.ts";
export { isEqualInTime, isSigned } from "./signature.ts";
export { watchReceiverSecrets } from "./tokens.ts";
