export { createHttpSource } from "./http-source.ts";
export { createIndexReader, type IndexReaderOptions, indexLimits } from "./index-reader.ts";
export { createIndexRepository, type IndexSummary } from "./index-repository.ts";
