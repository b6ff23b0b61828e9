export { createFreshCache } from "./fresh-cache.ts";
export { createLruCache, type LruCache, type WeightLimit } from "./lru-cache.ts";
