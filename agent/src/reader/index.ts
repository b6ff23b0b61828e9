export { createReadCalls } from "./read-calls.ts";
export { createReaders } from "./readers.ts";
