export { createArchiveSource } from "./archive-source.ts";
