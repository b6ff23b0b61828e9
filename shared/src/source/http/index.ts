export { createHttpSource } from "./http-source.ts";
export { createIndexReader, type IndexReaderOptions, indexLimits } from "./index-reader.ts";
export { createIndexRepository } from "./index-repository.ts";
