export { type Clock, delay, systemClock, type Timer } from "./clock.ts";
export { formatGoDuration, parseGoDuration } from "./go-duration.ts";
export { formatMicroTime, formatTime, formatTimeMs, parseTime } from "./rfc3339.ts";
