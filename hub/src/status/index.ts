export { createPublisher, type Publisher } from "./publisher.ts";
export { isUrgentChange } from "./urgency.ts";
