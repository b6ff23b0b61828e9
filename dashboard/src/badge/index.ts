export { HealthText, SyncText } from "./axes.tsx";
export { StateBadge, StateIcon } from "./state-badge.tsx";
