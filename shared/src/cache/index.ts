export { createLruCache, type LruCache } from "./lru-cache.ts";
