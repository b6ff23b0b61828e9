export { forbidden, requestAttributes } from "./access.ts";
export { parseBody, requestKinds } from "./parse-request.ts";
export { requestRoute } from "./route.ts";
export { createUserRequests, type UserRequests } from "./user-requests.ts";
