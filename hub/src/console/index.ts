export type { ViewedKind } from "./access/scope.ts";
export { isPlanPath } from "./plans/parse-plan.ts";
export { planRoute } from "./plans/route.ts";
export { requestRoute } from "./requests/route.ts";
export { createUserRequests, type UserRequests } from "./requests/user-requests.ts";
export { runKeyRotation } from "./session/session-keys.ts";
