export { createHttpSource } from "./http-source.ts";
export { createIndexReader, type IndexReaderOptions } from "./index-reader.ts";
export { createIndexRepository } from "./index-repository.ts";
