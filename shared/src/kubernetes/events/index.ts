export { createEventRecorder, type EventNote, type EventRecorder } from "./events.ts";
