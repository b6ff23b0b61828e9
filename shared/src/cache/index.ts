export { createLruCache, type LruCache, type WeightLimit } from "./lru-cache.ts";
