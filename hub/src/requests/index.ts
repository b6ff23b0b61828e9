export { type RequestRouteDeps, requestRoute } from "./route.ts";
