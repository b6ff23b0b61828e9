export { RolloutHistory } from "./rollout-history.tsx";
export { StagesPanel } from "./stages-panel.tsx";
export { Week } from "./week-view.tsx";
