export { readRecordsHere } from "./read-records.ts";
