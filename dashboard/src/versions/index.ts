export { VersionsBar } from "./versions-bar.tsx";
export { VersionsCard } from "./versions-card.tsx";
