export {
  createReaderPool,
  programBeside,
  type ReaderPoolOptions,
} from "./reader-pool.ts";
export { serveTasks } from "./reply.ts";
