export { hubErrors } from "./hub-errors.ts";
