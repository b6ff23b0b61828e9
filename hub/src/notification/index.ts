export { createNotifications, type Notifications } from "./notifications.ts";
export type { StatusObserver } from "./observer.ts";
export { type ReleaseStatus, releaseMetadata } from "./status-events.ts";
export { storeEventsFirst } from "./stored-first.ts";
