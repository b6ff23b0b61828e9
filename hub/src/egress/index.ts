export { createHubEgress } from "./hub-egress.ts";
