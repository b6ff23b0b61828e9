export { MatrixPanel } from "./matrix-panel.tsx";
