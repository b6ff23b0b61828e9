export { toneOfVersion } from "./tones.ts";
export { VersionsBar } from "./versions-bar.tsx";
export { VersionsList } from "./versions-list.tsx";
