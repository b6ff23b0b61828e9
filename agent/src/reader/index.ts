export { createReadCalls } from "./read-calls.ts";
export { createReaders, type Readers } from "./readers.ts";
