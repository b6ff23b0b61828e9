export { requestRoute } from "./route.ts";
