export { place, statusOf } from "./reported-status.ts";
