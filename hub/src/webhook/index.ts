export { createWebhookKeys } from "./keys.ts";
export { webhookRoute } from "./route.ts";
export { createWebhook } from "./webhook.ts";
