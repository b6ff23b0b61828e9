export { Tip } from "./tip.tsx";
export { type Palette, usePalette } from "./use-palette.ts";
export { useSize } from "./use-size.ts";
