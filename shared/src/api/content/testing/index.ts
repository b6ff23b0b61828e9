export { plainContent } from "./plain-content.ts";
