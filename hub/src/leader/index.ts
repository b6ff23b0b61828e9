export { lead } from "./lead.ts";
