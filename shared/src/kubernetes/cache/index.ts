export { type ChangeListener, createInformer, dropBulk, type Informer } from "./informer.ts";
export { keepLastWriter } from "./last-writer.ts";
export { byNamespace, defineIndex, type Index } from "./object-index.ts";
export { createOptionalInformers } from "./optional-informers.ts";
export {
  type Change,
  createStore,
  type Store,
  type StoreOptions,
  type WatchedStore,
} from "./store.ts";
