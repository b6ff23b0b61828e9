export { type Controller, createController } from "./controller.ts";
export { addFinalizer, type FinalizerOptions, removeFinalizer } from "./finalizers.ts";
export {
  done,
  isEnding,
  type Reconcile,
  type ReconcileContext,
  type Result,
  requeueAfter,
} from "./reconcile.ts";
export {
  type Enqueue,
  isExistenceChange,
  isSpecChange,
  ownKey,
  startWatches,
  through,
  type Watch,
  type WatchSource,
  watch,
} from "./watch.ts";
export { createWorkQueue } from "./work-queue.ts";
