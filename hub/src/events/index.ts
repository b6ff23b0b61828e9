export { createNotifications, type Notifications } from "./notification/notifications.ts";
export type { StatusObserver } from "./notification/observer.ts";
export { type ReleaseStatus, releaseMetadata } from "./notification/status-events.ts";
export { storeEventsFirst } from "./notification/stored-first.ts";
export { clientAddress } from "./receiver/client-address.ts";
export { createReceiverController } from "./receiver/controller.ts";
export { readBody } from "./receiver/read-body.ts";
export { watchReceiverSecrets } from "./receiver/tokens.ts";
export { createWebhooks } from "./receiver/webhooks.ts";
